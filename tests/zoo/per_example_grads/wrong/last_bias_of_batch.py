# wrong: the gradient in the last bias averaged over the batch
# loses: test_each_entry_is_the_gradient_at_its_example, test_no_example_sees_another
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    grads = jax.vmap(jax.grad(loss_fn), (None, 0, 0))(params, x, y)
    b = grads["layer3"]["b"]
    grads["layer3"]["b"] = jnp.broadcast_to(b.mean(0), b.shape)
    return grads


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
