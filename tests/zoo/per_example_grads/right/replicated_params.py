# right: one gradient of the summed loss at parameters repeated for every example
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y):
    copies = jax.tree.map(lambda p: jnp.broadcast_to(p, (x.shape[0], *p.shape)), params)
    return jax.grad(lambda ps: jax.vmap(loss_fn)(ps, x, y).sum())(copies)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
