# wrong: follows the widths from layer to layer, the first that fits
# loses: test_twelve_layers_run_in_numeric_order, test_a_hundred_layers_run_in_numeric_order,
# test_gradients_of_twelve_layers_under_jit
# keeps: the rest

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    left = dict(sorted(params.items()))
    while left:
        name = next(name for name in left if left[name]["w"].shape[0] == x.shape[-1])
        layer = left.pop(name)
        x = x @ layer["w"] + layer["b"]
        if left:
            x = jax.nn.relu(x)
    return x


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
