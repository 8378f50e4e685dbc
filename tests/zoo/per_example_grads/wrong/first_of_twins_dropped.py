# wrong: equal neighbours in the ranking merged
# loses: test_equal_norms_give_distinct_indices
# keeps: the rest
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
    order = [int(i) for i in jnp.argsort(-norms)]
    kept = [i for j, i in enumerate(order) if j == 0 or norms[i] != norms[order[j - 1]]]
    kept = jnp.array((kept + order)[:k])
    return kept, norms[kept]
