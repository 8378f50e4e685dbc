# wrong: the stub as it is handed out
# loses: test_explanation_is_written, test_any_batch_size, test_any_k, test_any_widths,
#   test_arguments_stay_as_they_were, test_confident_predictions, test_dtypes_follow_params,
#   test_each_entry_is_the_gradient_at_its_example, test_equal_norms_give_distinct_indices,
#   test_every_call_answers_for_its_own_arguments, test_every_leaf_gains_a_batch_axis,
#   test_largest_come_first, test_nearly_equal_norms_are_ranked, test_no_example_sees_another,
#   test_norms_of_extreme_gradients, test_norms_take_in_every_leaf, test_python_does_not_loop,
#   test_ranking_goes_by_the_gradient, test_traced_program_does_not_grow, test_works_under_jit
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
