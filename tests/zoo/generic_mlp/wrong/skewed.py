# wrong: an exponential draw, shifted to mean 0
# loses: test_weights_are_single_draws
# keeps: the rest

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
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = (jax.random.exponential(k, (m, n)) - 1) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
