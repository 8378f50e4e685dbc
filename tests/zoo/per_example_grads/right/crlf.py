# right: Windows line ends, a byte order mark, tabs and names that are not English
import jax
import jax.numpy as jnp
from mnist_mlp import loss_fn

EXPLANATION = "Les images mal classées : leur erreur softmax − one-hot est grande."


def per_example_grads(params, x, y):
	dégradé = jax.grad(loss_fn)
	return jax.vmap(dégradé, in_axes=(None, 0, 0))(params, x, y)


def grad_norms(params, x, y):
	return jax.vmap(
		lambda dégradé: jnp.sqrt(sum((feuille**2).sum() for feuille in jax.tree.leaves(dégradé)))
	)(per_example_grads(params, x, y))


def largest_gradients(params, x, y, k):
	normes = grad_norms(params, x, y)
	ordre = jnp.argsort(normes, stable=False)[-k:][::-1]
	return ordre, normes[ordre]
