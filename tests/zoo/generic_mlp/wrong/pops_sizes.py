# wrong: pops the widths from the caller's list
# loses: test_arguments_stay_as_they_were, test_sizes_may_be_any_sequence
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
    widths = sizes if isinstance(sizes, list) else list(sizes)
    params, i = {}, 0
    m = widths.pop(0)
    while widths:
        i += 1
        n = widths.pop(0)
        key, k = jax.random.split(key)
        params[f"layer{i}"] = {"w": jax.random.normal(k, (m, n)) * (2 / m) ** 0.5, "b": jnp.zeros(n)}
        m = n
    return params
