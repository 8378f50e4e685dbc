# right: homogeneous coordinates, bias as one more row of w; depth and order from key paths
import zlib
from collections import defaultdict

import jax
import jax.numpy as jnp
import numpy as np


def _table(params):
    """{number: {'w': ..., 'b': ...}}, read off the paths of the leaves."""
    table = defaultdict(dict)
    for path, leaf in jax.tree_util.tree_flatten_with_path(params)[0]:
        layer, kind = (entry.key for entry in path)
        table[int(layer.removeprefix("layer"))][kind] = leaf
    return table


def num_layers(params):
    return len(_table(params))


def mlp_forward(params, x):
    table = _table(params)
    depth = max(table)

    def extended(h):
        return jnp.concatenate([h, jnp.ones((*h.shape[:-1], 1), h.dtype)], axis=-1)

    h = jnp.asarray(x)
    for number in range(1, depth + 1):
        matrix = jnp.vstack([table[number]["w"], table[number]["b"]])
        h = extended(h) @ matrix
        if number < depth:
            h = jnp.clip(h, 0)
    return h


def init_mlp(key, sizes):
    def layer(name, fan_in, fan_out):
        own = jax.random.fold_in(key, np.uint32(zlib.crc32(name.encode("ascii"))))
        normal = jax.random.normal(own, (fan_in, fan_out), dtype=jnp.float32)
        return {"w": jnp.sqrt(jnp.float32(2 / fan_in)) * normal, "b": jnp.zeros_like(normal[0])}

    sizes = np.asarray(sizes).tolist()
    return {
        (name := f"layer{i}"): layer(name, sizes[i - 1], sizes[i]) for i in range(1, len(sizes))
    }
