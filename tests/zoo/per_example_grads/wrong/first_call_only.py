# wrong: right on the first call, then scaled
# loses: test_any_batch_size, test_any_widths
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


_calls = []


def per_example_grads(params, x, y):
    _calls.append(1)
    grads = jax.vmap(jax.grad(loss_fn), (None, 0, 0))(params, x, y)
    return grads if len(_calls) < 3 else jax.tree.map(lambda g: 1.01 * g, grads)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
