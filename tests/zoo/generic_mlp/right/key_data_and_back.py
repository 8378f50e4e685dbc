# right: every key becomes typed first; each layer scales a unit normal by jax.lax.rsqrt

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
    if not jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.wrap_key_data(key)
    params = {}
    for i in range(len(sizes) - 1):
        m, n = sizes[i], sizes[i + 1]
        w = jax.random.normal(jax.random.fold_in(key, 7 * i + 3), (m, n))
        params[f"layer{i + 1}"] = {"w": w * jax.lax.rsqrt(m / 2.0), "b": jnp.zeros((n,))}
    return params
