# wrong: a layer's gradients both in the dtype of its weights
# loses: test_dtypes_follow_params
# keeps: the rest
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    grads = jax.vmap(jax.grad(loss_fn), (None, 0, 0))(params, x, y)
    return {
        name: {part: leaf.astype(params[name]["w"].dtype) for part, leaf in layer.items()}
        for name, layer in grads.items()
    }


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
