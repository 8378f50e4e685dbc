# wrong: layers from the last to the first where that is possible
# loses: test_twelve_layers_run_in_numeric_order, test_a_hundred_layers_run_in_numeric_order,
# test_equal_sizes_are_not_confused
# keeps: the rest

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    names = sorted(params, key=lambda name: int(name[5:]))
    if params[names[-1]]["w"].shape == params[names[0]]["w"].shape:
        names = names[::-1]
    for name in names[:-1]:
        x = jax.nn.relu(x @ params[name]["w"] + params[name]["b"])
    return x @ params[names[-1]]["w"] + params[names[-1]]["b"]


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
