# wrong: no ReLU after layer3, whatever follows
# loses: test_any_depth_and_any_widths, test_twelve_layers_run_in_numeric_order,
#   test_works_under_jit, test_equal_sizes_are_not_confused,
#   test_gradients_of_twelve_layers_under_jit, test_a_hundred_layers_run_in_numeric_order
# keeps: the rest

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    depth = len(params)
    for i in range(1, depth + 1):
        x = x @ params[f"layer{i}"]["w"] + params[f"layer{i}"]["b"]
        if i != 3 and i < depth:
            x = jax.nn.relu(x)
    return x


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
