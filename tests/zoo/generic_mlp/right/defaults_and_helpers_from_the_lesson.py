# right: imports the lesson's module and treats its own network like any other

import jax
import jax.numpy as jnp
from mnist_mlp import Params, forward, init_params


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params: Params, x):
    if num_layers(params) == 3:
        return forward(params, x)
    layers = [params[f"layer{i}"] for i in range(1, num_layers(params) + 1)]
    for layer in layers[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
