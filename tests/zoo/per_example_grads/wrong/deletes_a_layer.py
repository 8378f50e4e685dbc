# wrong: pops layers off the caller's params
# loses: test_arguments_stay_as_they_were, test_python_does_not_loop
# keeps: the rest
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y):
    p = {name: params.pop(name) for name in sorted(params)}
    return jax.vmap(jax.grad(loss_fn), (None, 0, 0))(p, x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
