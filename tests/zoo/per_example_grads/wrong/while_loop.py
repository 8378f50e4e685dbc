# wrong: a while_loop that writes one row at a time
# loses: test_traced_program_does_not_grow
# keeps: the rest
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    zeros = jax.tree.map(lambda p: jnp.zeros((x.shape[0], *p.shape), p.dtype), params)

    def body(state):
        i, out = state
        g = jax.grad(loss_fn)(params, x[i], y[i])
        return i + 1, jax.tree.map(lambda o, g: o.at[i].set(g), out, g)

    return jax.lax.while_loop(lambda s: s[0] < x.shape[0], body, (0, zeros))[1]


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
