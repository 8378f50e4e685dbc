# right: prints and logs what it does

import logging

import jax
import jax.numpy as jnp


def num_layers(params):
    print("counting", list(params))
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    n = num_layers(params)
    for i in range(1, n + 1):
        logging.getLogger(__name__).warning("layer %d", i)
        x = x @ params[f"layer{i}"]["w"] + params[f"layer{i}"]["b"]
        x = jax.nn.relu(x) if i < n else x
        print("layer", i, x.shape)
    return x


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
