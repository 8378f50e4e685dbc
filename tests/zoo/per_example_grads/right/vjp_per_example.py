# right: jax.vjp of each loss pulled back from 1.0, with default arguments
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y, loss=loss_fn, cotangent=1.0):
    def pull(xi, yi):
        value, back = jax.vjp(lambda p: loss(p, xi, yi), params)
        return back(jnp.asarray(cotangent, value.dtype))[0]

    return jax.vmap(pull)(x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
