# right: einsum, and a where whose gradient at 0 is 1

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    n = num_layers(params)
    h = x
    for i in range(1, n + 1):
        layer = params[f"layer{i}"]
        h = jnp.einsum("...i,ij->...j", h, layer["w"]) + layer["b"]
        h = h if i == n else jnp.where(h >= 0, h, 0)
    return h


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
