# wrong: the norm of the mean gradient for everyone
# loses: test_norms_take_in_every_leaf, test_norms_of_extreme_gradients
# keeps: test_every_leaf_gains_a_batch_axis, test_each_entry_is_the_gradient_at_its_example,
#   test_works_under_jit, test_traced_program_does_not_grow, test_arguments_stay_as_they_were,
#   test_explanation_is_written, test_any_batch_size, test_any_widths, test_confident_predictions,
#   test_dtypes_follow_params, test_no_example_sees_another, test_python_does_not_loop
# named: norm-of-the-mean
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
    n = jnp.sqrt(sum(jnp.sum(g.mean(0) ** 2) for g in jax.tree.leaves(grads)))
    return jnp.full(len(x), n)


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
