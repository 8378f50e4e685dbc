# wrong: images reshaped to 784 pixels
# loses: test_any_batch_size, test_any_widths, test_confident_predictions,
#   test_dtypes_follow_params, test_no_example_sees_another,
#   test_every_call_answers_for_its_own_arguments, test_python_does_not_loop,
#   test_norms_of_extreme_gradients, test_equal_norms_give_distinct_indices, test_any_k,
#   test_ranking_goes_by_the_gradient, test_nearly_equal_norms_are_ranked
# keeps: the rest
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    return jax.vmap(jax.grad(loss_fn), (None, 0, 0))(params, x.reshape(-1, 784), y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
