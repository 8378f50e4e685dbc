# right: a truncated normal whose variance is corrected by hand

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    depth = len(params)
    for i in range(1, depth + 1):
        x = x @ params[f"layer{i}"]["w"] + params[f"layer{i}"]["b"]
        if i < depth:
            x = jax.nn.relu(x)
    return x


def init_mlp(key, sizes):
    params = {}
    for i in range(1, len(sizes)):
        key, subkey = jax.random.split(key)
        std = (2.0 / sizes[i - 1]) ** 0.5 / 0.87962566103423978
        w = std * jax.random.truncated_normal(subkey, -2.0, 2.0, (sizes[i - 1], sizes[i]))
        params[f"layer{i}"] = {"w": w, "b": jnp.full(sizes[i], 0.0)}
    return params
