# wrong: divide and conquer: the batch halved until one example is left
# loses: test_traced_program_does_not_grow, test_python_does_not_loop
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y):
    if len(x) == 1:
        return jax.tree.map(lambda g: g[None], jax.grad(loss_fn)(params, x[0], y[0]))
    m = len(x) // 2
    first, second = per_example_grads(params, x[:m], y[:m]), per_example_grads(params, x[m:], y[m:])
    return jax.tree.map(lambda a, b: jnp.concatenate([a, b]), first, second)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
