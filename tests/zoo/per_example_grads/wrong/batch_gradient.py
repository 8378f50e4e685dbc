# wrong: the gradient of the batch, no example axis
# loses: test_every_leaf_gains_a_batch_axis, test_each_entry_is_the_gradient_at_its_example,
#   test_works_under_jit, test_norms_take_in_every_leaf, test_largest_come_first,
#   test_arguments_stay_as_they_were, test_any_batch_size, test_any_widths,
#   test_confident_predictions, test_dtypes_follow_params, test_no_example_sees_another,
#   test_every_call_answers_for_its_own_arguments, test_norms_of_extreme_gradients,
#   test_equal_norms_give_distinct_indices, test_any_k, test_ranking_goes_by_the_gradient,
#   test_nearly_equal_norms_are_ranked
# keeps: the rest
# named: no-batch-axis
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    return jax.grad(loss_fn)(params, x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
