# right: jit at module level, k static
from functools import partial

import jax
import jax.numpy as jnp
from mnist_mlp import loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    return jax.vmap(jax.grad(loss_fn), in_axes=(None, 0, 0))(params, x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    return jnp.sqrt(
        jax.tree.reduce(
            lambda total, g: total + jnp.square(g).reshape(g.shape[0], -1).sum(1), grads, 0.0
        )
    )


@partial(jax.jit, static_argnums=3)
def largest_gradients(params, x, y, k):
    norms = grad_norms(params, x, y)
    indices = jnp.flip(jnp.argsort(norms))[:k]
    return indices, jnp.take(norms, indices)
