# right: backpropagation by hand with einsum, no transformation at all
import jax
import jax.numpy as jnp
from mnist_mlp import forward, loss_fn

EXPLANATION = "Images that are classified wrongly: their error signal is the largest."


def per_example_grads(params, x, y):
    (w2, w3) = (params["layer2"]["w"], params["layer3"]["w"])
    z1 = x @ params["layer1"]["w"] + params["layer1"]["b"]
    a1 = jnp.maximum(z1, 0)
    z2 = a1 @ w2 + params["layer2"]["b"]
    a2 = jnp.maximum(z2, 0)
    logits = a2 @ w3 + params["layer3"]["b"]
    d3 = jax.nn.softmax(logits) - jax.nn.one_hot(y, logits.shape[-1])
    d2 = jnp.einsum("bo,io->bi", d3, w3) * (z2 > 0)
    d1 = jnp.einsum("bo,io->bi", d2, w2) * (z1 > 0)
    grads = {
        f"layer{i}": {"w": jnp.einsum("bi,bo->bio", a, d), "b": d}
        for i, (a, d) in enumerate([(x, d1), (a1, d2), (a2, d3)], start=1)
    }
    return jax.tree.map(lambda g, p: g.astype(p.dtype), grads, params)


@jax.jit
def grad_norms(params, x, y):
    grads = per_example_grads(params, x, y)
    squares = [jnp.sum(g**2, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(grads)]
    return jnp.sqrt(sum(squares))


def largest_gradients(params, x, y, k):
    norms, indices = jax.lax.top_k(grad_norms(params, x, y), k)
    return indices, norms
