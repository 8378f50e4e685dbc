# wrong: a leaky ReLU in the backward pass
# loses: test_each_entry_is_the_gradient_at_its_example, test_any_batch_size, test_any_widths
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


@jax.jit
def per_example_grads(params, x, y):
    def loss(p, xi, yi):
        h = jax.nn.leaky_relu(xi @ p["layer1"]["w"] + p["layer1"]["b"], 0.001)
        h = jax.nn.leaky_relu(h @ p["layer2"]["w"] + p["layer2"]["b"], 0.001)
        return -jax.nn.log_softmax(h @ p["layer3"]["w"] + p["layer3"]["b"])[yi]

    return jax.vmap(jax.grad(loss), (None, 0, 0))(params, x, y)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
