# right: a dataclass config, gradients cast explicitly to the params' dtypes
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y):
    def single(xi, yi):
        p32 = jax.tree.map(lambda p: p.astype(jnp.float32), params)
        return jax.tree.map(lambda g, p: g.astype(p.dtype), jax.grad(loss_fn)(p32, xi, yi), params)

    return jax.jit(jax.vmap(single))(x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
