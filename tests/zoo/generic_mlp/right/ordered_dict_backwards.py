# right: init_mlp fills an OrderedDict from the last layer to the first

from collections import OrderedDict

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    depth = len(params)
    for i in range(1, depth + 1):
        x = x @ params[f"layer{i}"]["w"] + params[f"layer{i}"]["b"]
        if i < depth:
            x = jax.nn.relu(x)
    return x


def init_mlp(key, sizes):
    params = OrderedDict()
    for i in range(len(sizes) - 1, 0, -1):
        key, subkey = jax.random.split(key)
        w = jax.random.normal(subkey, (sizes[i - 1], sizes[i])) * jnp.sqrt(2 / sizes[i - 1])
        params[f"layer{i}"] = OrderedDict(w=w, b=jnp.zeros(sizes[i]))
    return params
