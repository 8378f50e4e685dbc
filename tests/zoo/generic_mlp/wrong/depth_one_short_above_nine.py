# wrong: num_layers is one too few for more than nine layers
# loses: test_num_layers_of_deep_and_thin_networks
# keeps: the rest

import jax
import jax.numpy as jnp


def num_layers(params):
    n = len(jax.tree.leaves(params)) // 2
    return n if n < 10 else n - 1


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
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
