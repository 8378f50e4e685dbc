# right: init_mlp turns sizes into a tuple for a jitted helper

from functools import partial

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


@partial(jax.jit, static_argnames="widths")
def _draw(key, widths):
    keys = jax.random.split(key, len(widths) - 1)
    return {
        f"layer{i}": {
            "w": jax.random.normal(keys[i - 1], widths[i - 1 : i + 1]) * jnp.sqrt(2 / widths[i - 1]),
            "b": jnp.zeros(widths[i]),
        }
        for i in range(1, len(widths))
    }


def init_mlp(key, sizes):
    return _draw(key, tuple(sizes))
