# right: jnp.vectorize with a signature; subkeys from a checksum of the name

import zlib

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    def one(x):
        n = num_layers(params)
        for i in range(1, n + 1):
            x = x @ params[f"layer{i}"]["w"] + params[f"layer{i}"]["b"]
            x = jax.nn.relu(x) if i < n else x
        return x

    return jnp.vectorize(one, signature="(i)->(o)")(x)


def init_mlp(key, sizes):
    params = {}
    for i, (m, n) in enumerate(zip(sizes[:-1], sizes[1:]), 1):
        subkey = jax.random.fold_in(key, zlib.crc32(f"layer{i}".encode()))
        w = jax.random.normal(subkey, (n, m)).T * (2 / m) ** 0.5
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros(n)}
    return params
