# wrong: labels smoothed by 1%
# loses: test_each_entry_is_the_gradient_at_its_example, test_any_batch_size, test_any_widths
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    def loss(p, xi, yi):
        logp = jax.nn.log_softmax(forward(p, xi))
        return -(0.99 * logp[yi] + 0.01 * logp.mean())

    return jax.vmap(jax.grad(loss), (None, 0, 0))(params, x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
