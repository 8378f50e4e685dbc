# right: optax.global_norm mapped over examples, argsort of the negated norms
import jax
import jax.numpy as jnp
import optax
from mnist_mlp import loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    return jax.vmap(jax.grad(loss_fn), in_axes=(None, 0, 0))(params, x, y)


def grad_norms(params, x, y):
    return jax.vmap(optax.global_norm)(per_example_grads(params, x, y))


def largest_gradients(params, x, y, k):
    norms = grad_norms(params, x, y)
    indices = jnp.argsort(-norms)[:k]
    return indices, norms[indices]
