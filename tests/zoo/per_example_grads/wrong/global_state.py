# wrong: params of the last call are used when traced
# loses: test_works_under_jit
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


_last = {}


def per_example_grads(params, x, y):
    shapes = str(jax.tree.map(jnp.shape, (params, x)))
    if isinstance(x, jax.core.Tracer):
        params = _last.get(shapes, params)
    else:
        _last[shapes] = params
    return jax.vmap(jax.grad(loss_fn), (None, 0, 0))(params, x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
