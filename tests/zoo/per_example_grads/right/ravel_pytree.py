# right: flat vectors, and norms of their rows
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from mnist_mlp import loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y):
    flat, unravel = ravel_pytree(params)
    flat_grad = jax.grad(lambda v, xi, yi: loss_fn(unravel(v), xi, yi))
    return jax.vmap(unravel)(jax.vmap(flat_grad, in_axes=(None, 0, 0))(flat, x, y))


def grad_norms(params, x, y):
    rows = jax.vmap(lambda g: ravel_pytree(g)[0])(per_example_grads(params, x, y))
    return jnp.linalg.norm(rows, axis=1)


def largest_gradients(params, x, y, k):
    norms = np.asarray(grad_norms(params, x, y))
    order = np.argsort(-norms, kind="stable")[:k]
    return order, norms[order]
