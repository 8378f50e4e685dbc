# right: one function for one example, vmap for batches

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def _one(params, x):
    n = num_layers(params)
    for i in range(1, n):
        x = jax.nn.relu(params[f"layer{i}"]["w"].T @ x + params[f"layer{i}"]["b"])
    return params[f"layer{n}"]["w"].T @ x + params[f"layer{n}"]["b"]


def mlp_forward(params, x):
    if x.ndim == 1:
        return _one(params, x)
    return jax.vmap(_one, in_axes=(None, 0))(params, x)


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
