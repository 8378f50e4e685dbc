# right: has_aux, argnums and a dict of in_axes
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y):
    def with_aux(batch, p):
        return loss_fn(p, batch["x"], batch["y"]), batch["y"]

    grads, _ = jax.vmap(
        jax.grad(with_aux, argnums=1, has_aux=True), in_axes=({"x": 0, "y": 0}, None)
    )({"x": x, "y": y}, params)
    return grads


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
