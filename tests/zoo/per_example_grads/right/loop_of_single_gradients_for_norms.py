# right: norms from one jax.grad an example, per_example_grads vectorised
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    return jax.vmap(jax.grad(loss_fn), in_axes=(None, 0, 0))(params, x, y)


def grad_norms(params, x, y):
    def norm(i):
        g = jax.grad(loss_fn)(params, x[i], y[i])
        return jnp.sqrt(sum(jnp.vdot(leaf, leaf) for leaf in jax.tree.leaves(g)))

    return jnp.stack([norm(i) for i in range(len(y))])


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
