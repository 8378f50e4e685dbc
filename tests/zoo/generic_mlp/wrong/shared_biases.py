# wrong: one vector of zeros for all layers, as wide as the widest
# loses: test_init_has_names_and_shapes, test_biases_start_at_zero, test_weights_have_he_variance,
# test_sizes_may_be_any_sequence, test_every_layer_has_its_own_variance,
# test_weights_are_single_draws
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
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((max(sizes[1:]),))}
    return params
