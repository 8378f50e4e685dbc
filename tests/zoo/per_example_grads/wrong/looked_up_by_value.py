# wrong: looks every norm up by its value, so twins twice
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
    top = jnp.sort(norms)[::-1][:k]
    indices = jnp.array([int(jnp.argmax(norms == t)) for t in top])
    return indices, top
