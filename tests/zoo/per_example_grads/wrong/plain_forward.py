# wrong: hardly anything: the batch gradient and unranked examples
# loses: test_every_leaf_gains_a_batch_axis, test_each_entry_is_the_gradient_at_its_example,
#   test_norms_take_in_every_leaf, test_largest_come_first
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    return jax.grad(loss_fn)(params, x, y)


@jax.jit
def grad_norms(params, x, y):
    return jnp.linalg.norm(forward(params, x), axis=-1)


def largest_gradients(params, x, y, k):
    return jnp.arange(k), grad_norms(params, x, y)[:k]
