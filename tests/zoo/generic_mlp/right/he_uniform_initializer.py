# right: jax.nn.initializers.he_uniform and zeros

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
    he, zeros = jax.nn.initializers.he_uniform(), jax.nn.initializers.zeros
    names = [f"layer{i}" for i in range(1, len(sizes))]
    keys = dict(zip(names, jax.random.split(key, len(names))))
    shapes = dict(zip(names, zip(sizes[:-1], sizes[1:])))
    return {
        name: {"w": he(keys[name], shapes[name]), "b": zeros(keys[name], shapes[name][1:])}
        for name in names
    }
