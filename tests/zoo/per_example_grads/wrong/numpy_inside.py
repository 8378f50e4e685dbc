# wrong: np.asarray of the labels, so not under jit
# loses: test_works_under_jit, test_traced_program_does_not_grow
import jax
import jax.numpy as jnp
import numpy as np
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y):
    labels = np.asarray(y)
    return jax.vmap(jax.grad(loss_fn), (None, 0, 0))(params, x, labels)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
