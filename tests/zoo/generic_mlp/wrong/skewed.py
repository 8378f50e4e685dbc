# wrong: an exponential draw, shifted to mean 0
# loses: test_weights_are_single_draws
# keeps: test_num_layers_counts_the_layers, test_matches_the_lessons_forward,
#   test_any_depth_and_any_widths, test_relu_between_layers, test_init_has_names_and_shapes,
#   test_biases_start_at_zero, test_layers_are_drawn_independently, test_typed_keys,
#   test_the_key_decides

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
