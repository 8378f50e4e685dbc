# wrong: adds integer keys to the caller's dict
# loses: test_arguments_stay_as_they_were
# keeps: the rest

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    depth = len(params)
    for i in range(1, depth + 1):
        params[f"layer{i}"]["index"] = i
    for i in range(1, depth + 1):
        x = x @ params[f"layer{i}"]["w"] + params[f"layer{i}"]["b"]
        x = jax.nn.relu(x) if i < depth else x
    return x


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
