# wrong: replaces a leaf of the caller's params by a copy in float32
# loses: test_arguments_stay_as_they_were
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
    params["layer1"]["b"] = params["layer1"]["b"] * 1.0
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
