# wrong: norms cut at 50
# loses: test_norms_of_extreme_gradients
# keeps: test_every_leaf_gains_a_batch_axis, test_each_entry_is_the_gradient_at_its_example,
#   test_works_under_jit, test_traced_program_does_not_grow, test_arguments_stay_as_they_were,
#   test_explanation_is_written, test_any_batch_size, test_any_widths, test_confident_predictions,
#   test_dtypes_follow_params, test_no_example_sees_another,
#   test_every_call_answers_for_its_own_arguments, test_python_does_not_loop
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
    return jnp.minimum(jnp.sqrt(sum(squares)), 50.0)


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
