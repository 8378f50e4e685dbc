# wrong: the stub as it is handed out
# loses: test_explanation_is_written
# keeps: the rest
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = ""


def per_example_grads(params, x, y):
    raise NotImplementedError("per_example_grads is not written yet")


def grad_norms(params, x, y):
    raise NotImplementedError("grad_norms is not written yet")


def largest_gradients(params, x, y, k):
    raise NotImplementedError("largest_gradients is not written yet")
