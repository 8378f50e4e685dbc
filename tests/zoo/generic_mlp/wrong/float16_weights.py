# wrong: rounds the weights to float16
# loses: test_twelve_layers_run_in_numeric_order, test_a_hundred_layers_run_in_numeric_order,
#   test_gradients_of_twelve_layers_under_jit, test_relu_is_exact_at_any_scale,
#   test_no_relu_after_the_last_layer
# keeps: test_num_layers_counts_the_layers, test_init_has_names_and_shapes,
#   test_biases_start_at_zero, test_weights_have_he_variance, test_layers_are_drawn_independently,
#   test_num_layers_of_deep_and_thin_networks, test_sizes_may_be_any_sequence,
#   test_every_layer_has_its_own_variance, test_weights_are_single_draws, test_typed_keys,
#   test_the_key_decides, test_many_layers_are_independent

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    depth = len(params)
    params = jax.tree.map(lambda p: p.astype(jnp.float16).astype(jnp.float32), params)
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
