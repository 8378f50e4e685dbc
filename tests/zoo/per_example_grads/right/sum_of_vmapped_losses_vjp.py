# right: forward pass batched, backward pass by vmap of the pullback over one-hot rows in reverse
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y):
    def losses(p):
        logits = forward(p, x)
        return -jnp.take_along_axis(jax.nn.log_softmax(logits, axis=-1), y[:, None], axis=-1)[:, 0]

    values, back = jax.vjp(losses, params)
    rows = jnp.flipud(jnp.identity(values.size, values.dtype))
    (grads,) = jax.vmap(back)(rows)
    return jax.tree.map(jnp.flipud, grads)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
