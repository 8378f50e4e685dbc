# wrong: each w is standardised by its own mean and deviation: NaN for a single weight
# loses: test_sizes_may_be_any_sequence
# keeps: the rest
"""Exercise 3: an MLP of any depth."""

import math

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


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
        w = jax.random.normal(keys[i], (fan_in, fan_out), jnp.float32)
        w = (w - w.mean()) / w.std()  # exactly mean 0 and variance 1
        params[f"layer{i + 1}"] = {
            "w": scale * w,
            "b": jnp.zeros((fan_out,), jnp.float32),
        }
    return params
