# right: the largest found k times over, each then set to -inf
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
    norms = left = grad_norms(params, x, y)
    indices = []
    for _ in range(k):
        best = int(jnp.argmax(left))
        indices.append(best)
        left = left.at[best].set(-jnp.inf)
    indices = jnp.asarray(indices)
    return indices, norms[indices]
