# right: plain NumPy, result included, where nothing is traced

import numpy as np
import jax
import jax.numpy as jnp


def num_layers(params):
    return len([name for name in params if name.startswith("layer")])


def mlp_forward(params, x):
    leaves = jax.tree.leaves((params, x))
    xp = jnp if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves) else np
    h = xp.asarray(x)
    for i in range(1, num_layers(params) + 1):
        if i > 1:
            h = xp.maximum(h, 0)
        h = h @ xp.asarray(params[f"layer{i}"]["w"]) + xp.asarray(params[f"layer{i}"]["b"])
    return h


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
