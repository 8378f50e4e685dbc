# right: x reshaped to (batch, 1, features) before it is mapped
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y):
    grads = jax.vmap(jax.value_and_grad(loss_fn), in_axes=(None, 0, 0), out_axes=0)
    _, each = grads(params, jnp.expand_dims(x, 1), y.reshape(-1, 1))
    return each


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
