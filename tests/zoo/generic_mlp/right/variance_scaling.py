# right: variance_scaling with scale 2, fan_in, uniform; keys from an iterator

from itertools import pairwise

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
    draw = jax.nn.initializers.variance_scaling(2.0, "fan_in", "uniform")
    keys = iter(jax.random.split(key, 2 * len(sizes)))
    return {
        f"layer{i}": {"w": draw(next(keys), shape), "b": jnp.zeros(shape[1])}
        for i, shape in enumerate(pairwise(sizes), start=1)
    }
