# wrong: sorts by the first two digits of the number
# loses: test_a_hundred_layers_run_in_numeric_order
# keeps: the rest

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    *hidden, last = sorted(params, key=lambda name: (int(name[5:7]), name))
    for name in hidden:
        x = jax.nn.relu(x @ params[name]["w"] + params[name]["b"])
    return x @ params[last]["w"] + params[last]["b"]


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
