# wrong: the k largest in the order of the batch
# loses: test_largest_come_first, test_equal_norms_give_distinct_indices, test_any_k,
#   test_nearly_equal_norms_are_ranked
# keeps: the rest
# named: in-batch-order
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    return jax.vmap(jax.grad(loss_fn), in_axes=(None, 0, 0))(params, x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms = grad_norms(params, x, y)
    indices = jnp.sort(jnp.argsort(-norms)[:k])
    return indices, norms[indices]
