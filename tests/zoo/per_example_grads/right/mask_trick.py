# right: the gradient of a masked sum, mapped over the rows of an identity matrix
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y):
    losses = lambda p: jax.vmap(loss_fn, in_axes=(None, 0, 0))(p, x, y)
    _, pullback = jax.vjp(losses, params)
    return jax.vmap(lambda row: pullback(row)[0])(jnp.eye(x.shape[0]))


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
