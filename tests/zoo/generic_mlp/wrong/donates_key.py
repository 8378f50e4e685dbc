# wrong: donates the key
# loses: test_arguments_stay_as_they_were
# keeps: the rest

from functools import partial

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


@partial(jax.jit, static_argnums=1, donate_argnums=0)
def _draw(key, sizes):
    params = {}
    for i, (m, n) in enumerate(zip(sizes[:-1], sizes[1:]), 1):
        key, k = jax.random.split(key)
        params[f"layer{i}"] = {"w": jax.random.normal(k, (m, n)) * (2 / m) ** 0.5, "b": jnp.zeros(n)}
    return params, key


def init_mlp(key, sizes):
    return _draw(key, tuple(sizes))[0]
