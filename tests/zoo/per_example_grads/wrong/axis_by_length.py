# wrong: finds the axis to map by its length
# loses: test_any_widths
# keeps: the rest
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    n = y.shape[0]
    axes = jax.tree.map(lambda p: 0 if p.shape[0] == n else None, params)
    if all(a is None for a in jax.tree.leaves(axes, is_leaf=lambda a: a is None)):
        axes = None
    return jax.vmap(jax.grad(loss_fn), (axes, 0, 0))(params, x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
