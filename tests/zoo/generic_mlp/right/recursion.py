# right: the forward pass calls itself on the layers that are left

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    def run(h, names):
        name, *rest = names
        h = jnp.matmul(h, params[name]["w"]) + params[name]["b"]
        return run(jnp.maximum(h, 0), rest) if rest else h

    return run(x, [f"layer{i + 1}" for i in range(num_layers(params))])


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
