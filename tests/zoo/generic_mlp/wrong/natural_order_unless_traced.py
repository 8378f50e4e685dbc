# wrong: numeric order in eager calls, the order of leaves under a trace
# loses: test_gradients_of_twelve_layers_under_jit
# keeps: the rest

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    depth = len(params)
    if isinstance(params['layer1']['w'], jax.core.Tracer) and depth > 9:
        params = dict(zip([f'layer{i}' for i in range(1, depth + 1)], (params[n] for n in sorted(params))))
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
