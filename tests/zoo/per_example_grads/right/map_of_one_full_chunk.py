# right: fori_loop over layers for the norms and vectorised closures
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    return jax.vmap(jax.grad(loss_fn), in_axes=(None, 0, 0))(params, x, y)


def grad_norms(params, x, y):
    leaves = jax.tree.leaves(per_example_grads(params, x, y))
    longest = max(leaf[0].size for leaf in leaves)
    padded = jnp.stack(
        [jnp.pad(l.reshape(len(l), -1), ((0, 0), (0, longest - l[0].size))) for l in leaves]
    )
    add = lambda i, total: total + jnp.sum(padded[i] ** 2, axis=-1)
    return jnp.sqrt(jax.lax.fori_loop(0, len(leaves), add, jnp.zeros(len(x))))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
