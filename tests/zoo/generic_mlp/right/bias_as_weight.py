# right: the bias is one more row of the weights and one more input

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    n = num_layers(params)
    for i in range(1, n + 1):
        layer = params[f"layer{i}"]
        full = jnp.vstack([layer["w"], layer["b"]])
        ones = jnp.ones(x.shape[:-1] + (1,), x.dtype)
        x = jnp.concatenate([x, ones], axis=-1) @ full
        if i < n:
            x = (x + jnp.abs(x)) / 2
    return x


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
