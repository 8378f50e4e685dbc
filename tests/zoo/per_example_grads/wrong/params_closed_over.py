# wrong: params of the first call baked into a jitted function
# loses: test_every_call_answers_for_its_own_arguments
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


_jitted = {}


def per_example_grads(params, x, y):
    if isinstance(x, jax.core.Tracer):
        return jax.vmap(jax.grad(loss_fn), (None, 0, 0))(params, x, y)
    widths = tuple(p.shape + (p.dtype,) for p in jax.tree.leaves(params))
    if widths not in _jitted:
        _jitted[widths] = jax.jit(
            lambda x, y: jax.vmap(jax.grad(loss_fn), (None, 0, 0))(params, x, y)
        )
    return _jitted[widths](x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
