# wrong: a padded lax.while_loop, which has no reverse mode
# loses: test_works_under_grad, test_gradients_of_twelve_layers_under_jit,
# test_gradients_of_each_example
# keeps: the rest

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    depth = len(params)
    layers = [params[f"layer{i}"] for i in range(1, depth + 1)]
    width = max(max(layer["w"].shape) for layer in layers)
    ws = jnp.stack([jnp.pad(q["w"], [(0, width - s) for s in q["w"].shape]) for q in layers])
    bs = jnp.stack([jnp.pad(q["b"], (0, width - q["b"].shape[0])) for q in layers])
    h = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, width - x.shape[-1])])

    def body(state):
        i, h = state
        z = h @ ws[i] + bs[i]
        return i + 1, jnp.where(i == depth - 1, z, jax.nn.relu(z))

    _, h = jax.lax.while_loop(lambda state: state[0] < depth, body, (0, h))
    return h[..., : layers[-1]["b"].shape[0]]


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
