# right: lax.dot_general, lax.select and a broadcast written out

import jax
import jax.numpy as jnp
from jax import lax


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def _affine(h, w, b):
    out = lax.dot_general(h, w, (((h.ndim - 1,), (0,)), ((), ())))
    return lax.add(out, lax.broadcast_in_dim(b, out.shape, (out.ndim - 1,)))


def mlp_forward(params, x):
    n = num_layers(params)
    for i in range(n):
        layer = params[f"layer{i + 1}"]
        x = _affine(x, layer["w"], layer["b"])
        if i + 1 != n:
            x = lax.select(x > 0, x, lax.full_like(x, 0))
    return x


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
