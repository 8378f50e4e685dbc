# right: every layer under jax.checkpoint, closures for layers

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def _layer(params, i, last):
    @jax.checkpoint
    def apply(h, w, b):
        z = h @ w + b
        return z if last else jax.nn.relu(z)

    return lambda h: apply(h, params[f"layer{i}"]["w"], params[f"layer{i}"]["b"])


def mlp_forward(params, x):
    depth = num_layers(params)
    for apply in [_layer(params, i, i == depth) for i in range(1, depth + 1)]:
        x = apply(x)
    return x


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
