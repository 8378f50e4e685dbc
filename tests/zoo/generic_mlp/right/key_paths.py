# right: layers found with tree_flatten_with_path, sorted by length, then name

import jax
import jax.numpy as jnp


def _layers(params):
    found = {}
    for path, leaf in jax.tree_util.tree_flatten_with_path(params)[0]:
        name, kind = (entry.key for entry in path)
        found.setdefault(name, {})[kind] = leaf
    return [found[name] for name in sorted(found, key=lambda name: (len(name), name))]


def num_layers(params):
    return len(_layers(params))


def mlp_forward(params, x):
    first, *others = _layers(params)
    x = jnp.inner(x, first["w"].T) + first["b"]
    for layer in others:
        x = jnp.inner(jax.nn.relu(x), layer["w"].T) + layer["b"]
    return x


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
