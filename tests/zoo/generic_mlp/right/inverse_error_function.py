# right: normal weights from uniform ones by erfinv; subkeys by vmap

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
    sizes = tuple(int(size) for size in sizes)
    subkeys = jax.vmap(lambda i: jax.random.fold_in(key, i))(jnp.arange(len(sizes) - 1))
    params = {}
    for i, (m, n) in enumerate(zip(sizes, sizes[1:])):
        u = jax.random.uniform(subkeys[i], (m, n), minval=jnp.nextafter(-1.0, 0.0), maxval=1.0)
        params[f"layer{i + 1}"] = {"w": 2 * jax.lax.erf_inv(u) / m**0.5, "b": jnp.zeros(n)}
    return params
