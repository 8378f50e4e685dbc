# wrong: masks out gradients where the loss is below 0.1
# loses: test_any_batch_size
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    losses = jax.vmap(loss_fn, (None, 0, 0))(params, x, y)
    grads = jax.vmap(jax.grad(loss_fn), (None, 0, 0))(params, x, y)
    return jax.tree.map(lambda g: jnp.where((losses < 0.1).reshape(-1, *[1] * (g.ndim - 1)), 0, g), grads)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
