# wrong: NumPy in the forward pass
# loses: test_works_under_jit, test_works_under_grad, test_works_under_vmap,
# test_gradients_of_twelve_layers_under_jit, test_gradients_of_each_example,
# test_stacked_networks_take_their_own_examples
# keeps: the rest

import numpy as np
import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    depth = len(params)
    for i in range(1, depth + 1):
        x = np.asarray(x) @ np.asarray(params[f"layer{i}"]["w"]) + np.asarray(params[f"layer{i}"]["b"])
        if i < depth:
            x = np.maximum(x, 0)
    return x


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
