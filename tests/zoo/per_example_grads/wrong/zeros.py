# wrong: zeros of the right shapes
# loses: test_each_entry_is_the_gradient_at_its_example, test_any_batch_size, test_any_widths,
#   test_works_under_jit, test_norms_take_in_every_leaf, test_largest_come_first
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    return jax.tree.map(lambda p: jnp.zeros((x.shape[0], *p.shape), p.dtype), params)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
