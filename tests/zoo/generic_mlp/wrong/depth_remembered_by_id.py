# wrong: num_layers remembers the depth of each dictionary, although a layer may be added to it
# loses: test_num_layers_of_deep_and_thin_networks
# keeps: the rest
"""Exercise 3: an MLP of any depth."""

import math

import jax
import jax.numpy as jnp


_depths = {}


def num_layers(params):
    if id(params) not in _depths:
        _depths[id(params)] = len(jax.tree.leaves(params)) // 2
    return _depths[id(params)]


def mlp_forward(params, x):
    depth = num_layers(params)
    h = x
    for i in range(1, depth + 1):
        layer = params[f"layer{i}"]
        h = h @ layer["w"] + layer["b"]
        if i < depth:
            h = jax.nn.relu(h)
    return h


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (fan_in, fan_out) in enumerate(zip(sizes[:-1], sizes[1:])):
        scale = math.sqrt(2.0 / fan_in)
        params[f"layer{i + 1}"] = {
            "w": scale * jax.random.normal(keys[i], (fan_in, fan_out), jnp.float32),
            "b": jnp.zeros((fan_out,), jnp.float32),
        }
    return params
