# wrong: scan over chunks of 32 with the rest padded
# loses: test_traced_program_does_not_grow
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    n, size = len(x), 32
    pad = -n % size
    xs = jnp.pad(x, ((0, pad), (0, 0))).reshape(-1, size, x.shape[1])
    ys = jnp.pad(y, (0, pad)).reshape(-1, size)
    each = jax.vmap(jax.grad(loss_fn), (None, 0, 0))
    _, grads = jax.lax.scan(lambda c, e: (c, each(params, *e)), 0, (xs, ys))
    return jax.tree.map(lambda g: g.reshape(-1, *g.shape[2:])[:n], grads)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
