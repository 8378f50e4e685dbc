# wrong: pops the layers out of the caller's dict
# loses: test_arguments_stay_as_they_were
# keeps: the rest

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    i = 1
    while params:
        layer = params.pop(f"layer{i}")
        x = x @ layer["w"] + layer["b"]
        x = jax.nn.relu(x) if params else x
        i += 1
    return x


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
