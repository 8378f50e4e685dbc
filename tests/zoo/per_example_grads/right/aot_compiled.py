# right: compiled ahead of time for each shape and cached by shape
import functools

import jax
import jax.numpy as jnp
from mnist_mlp import loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


_each = jax.vmap(jax.grad(loss_fn), in_axes=(None, 0, 0))
_compiled = {}


def per_example_grads(params, x, y):
    leaves, structure = jax.tree.flatten((params, x, y))
    if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
        return _each(params, x, y)
    signature = (structure, *((leaf.shape, leaf.dtype.name) for leaf in leaves))
    if signature not in _compiled:
        _compiled[signature] = jax.jit(_each).lower(params, x, y).compile()
    return _compiled[signature](params, x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
