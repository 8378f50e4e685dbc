# right: functools.reduce over layers sorted by their number

import re
from functools import reduce

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(params)


def _number(name):
    return int(re.search(r"\d+$", name).group())


def mlp_forward(params, x):
    *hidden, last = sorted(params, key=_number)

    def layer(h, name):
        return jax.nn.relu(h @ params[name]["w"] + params[name]["b"])

    h = reduce(layer, hidden, x)
    return h @ params[last]["w"] + params[last]["b"]


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
