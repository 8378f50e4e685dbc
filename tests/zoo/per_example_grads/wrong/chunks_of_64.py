# wrong: vmap over chunks of 64 in a Python loop
# loses: test_traced_program_does_not_grow, test_python_does_not_loop
# keeps: the rest
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y):
    each = jax.vmap(jax.grad(loss_fn), (None, 0, 0))
    parts = [each(params, x[i : i + 64], y[i : i + 64]) for i in range(0, x.shape[0], 64)]
    return jax.tree.map(lambda *p: jnp.concatenate(p), *parts)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
