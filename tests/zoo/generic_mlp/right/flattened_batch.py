# right: leading axes are flattened and put back

import jax
import jax.numpy as jnp


def num_layers(params):
    return jax.tree.reduce(lambda count, _: count + 1, params, 0) // 2


def mlp_forward(params, x):
    lead = x.shape[:-1]
    h = x.reshape(-1, x.shape[-1])
    n = num_layers(params)
    for i in range(1, n + 1):
        h = jax.lax.dot(h, params[f"layer{i}"]["w"], precision="highest") + params[f"layer{i}"]["b"]
        h = h if i == n else jnp.where(h < 0, 0, h)
    return h.reshape(*lead, -1)


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
