# wrong: the k largest in no order (NumPy argpartition)
# loses: test_any_k
import jax
import jax.numpy as jnp
import numpy as np
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
    norms = np.asarray(grad_norms(params, x, y))
    indices = np.argpartition(norms, len(norms) - k)[len(norms) - k :]
    return indices, norms[indices]
