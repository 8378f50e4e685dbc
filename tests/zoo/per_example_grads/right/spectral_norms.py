# right: matrix 2-norms of the weights' gradients, which have rank one for a single example
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    return jax.vmap(jax.grad(loss_fn), in_axes=(None, 0, 0))(params, x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [
        jnp.linalg.norm(g, ord=2, axis=(1, 2)) ** 2 if g.ndim == 3 else jnp.sum(g**2, axis=1)
        for g in jax.tree.leaves(grads)
    ]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
