# wrong: a Python loop over examples, stacked
# loses: test_traced_program_does_not_grow, test_python_does_not_loop
# keeps: test_every_leaf_gains_a_batch_axis, test_each_entry_is_the_gradient_at_its_example,
#   test_works_under_jit, test_norms_take_in_every_leaf, test_largest_come_first,
#   test_arguments_stay_as_they_were, test_explanation_is_written, test_dtypes_follow_params,
#   test_confident_predictions, test_equal_norms_give_distinct_indices
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y):
    grads = [jax.grad(loss_fn)(params, x[i], y[i]) for i in range(x.shape[0])]
    return jax.tree.map(lambda *g: jnp.stack(g), *grads)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
