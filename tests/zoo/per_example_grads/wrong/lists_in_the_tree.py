# wrong: leaves as nested lists
# loses: test_every_leaf_gains_a_batch_axis, test_each_entry_is_the_gradient_at_its_example,
#   test_any_batch_size, test_confident_predictions, test_dtypes_follow_params,
#   test_no_example_sees_another, test_every_call_answers_for_its_own_arguments
# keeps: the rest
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y):
    grads = jax.vmap(jax.grad(loss_fn), (None, 0, 0))(params, x, y)
    if isinstance(x, jax.core.Tracer):
        return grads
    return jax.tree.map(lambda g: g.tolist(), grads)


def grad_norms(params, x, y):
    grads = jax.vmap(jax.grad(loss_fn), (None, 0, 0))(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
