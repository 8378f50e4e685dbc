# wrong: the last layer is told by identity, so a layer that is the same object has no ReLU
# loses: test_equal_sizes_are_not_confused
# keeps: the rest
import math

import jax
import jax.numpy as jnp


def num_layers(params):
    """Two leaves a layer."""
    return len(jax.tree_util.tree_leaves(params)) // 2


def mlp_forward(params, x):
    layers = [params[f"layer{i}"] for i in range(1, num_layers(params) + 1)]
    for layer in layers:
        x = x @ layer["w"] + layer["b"]
        if layer is not layers[-1]:
            x = jax.nn.relu(x)
    return x


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, subkey in enumerate(keys):
        fan_in, fan_out = sizes[i], sizes[i + 1]
        w = math.sqrt(2.0 / fan_in) * jax.random.normal(subkey, (fan_in, fan_out), jnp.float32)
        params[f"layer{i + 1}"] = {"w": w, "b": jnp.zeros((fan_out,), jnp.float32)}
    return params
