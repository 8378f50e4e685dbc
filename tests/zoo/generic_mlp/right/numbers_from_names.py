# right: the depth is the largest number among the names; German identifiers

import jax
import jax.numpy as jnp


def num_layers(params):
    return max(int(schluessel.removeprefix("layer")) for schluessel in params)


def mlp_forward(params, x):
    größe = num_layers(params)
    for nummer in range(1, größe + 1):
        schicht = params[f"layer{nummer}"]
        x = x @ schicht["w"] + schicht["b"]
        if nummer != größe:
            x = x * (x > 0)
    return x


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
