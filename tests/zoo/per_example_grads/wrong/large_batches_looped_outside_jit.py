# wrong: vmap when traced or for at most 50 examples, a loop over a jitted gradient otherwise
# loses: test_python_does_not_loop
# keeps: the rest
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


_one = jax.jit(jax.grad(loss_fn))


def per_example_grads(params, x, y):
    if isinstance(x, jax.core.Tracer) or len(x) <= 50:
        return jax.vmap(jax.grad(loss_fn), (None, 0, 0))(params, x, y)
    return jax.tree.map(lambda *g: jnp.stack(g), *map(lambda a, b: _one(params, a, b), x, y))


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
