# right: equal hidden layers are stacked and run by fori_loop, the others one by one

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    n = num_layers(params)
    layers = [params[f"layer{i}"] for i in range(1, n + 1)]
    middle = layers[1:-1]
    if len(middle) < 2 or len({layer["w"].shape for layer in middle}) > 1:
        for layer in layers[:-1]:
            x = jax.nn.relu(x @ layer["w"] + layer["b"])
    else:
        x = jax.nn.relu(x @ layers[0]["w"] + layers[0]["b"])
        w, b = (jnp.stack([layer[part] for layer in middle]) for part in ("w", "b"))
        x = jax.lax.fori_loop(0, len(middle), lambda i, h: jax.nn.relu(h @ w[i] + b[i]), x)
    return x @ layers[-1]["w"] + layers[-1]["b"]


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
