# wrong: only the last word of the key counts
# loses: test_the_key_decides
# keeps: the rest
import jax
import jax.numpy as jnp
import numpy as np


def num_layers(params):
    """Two leaves a layer."""
    return len(jax.tree_util.tree_leaves(params)) // 2


def mlp_forward(params, x):
    names = sorted(params, key=lambda name: int(name[5:]))
    for position, name in enumerate(names):
        x = jnp.dot(x, params[name]["w"]) + params[name]["b"]
        if position < len(names) - 1:
            x = jnp.maximum(x, 0.0)
    return x


def init_mlp(key, sizes):
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.key_data(key)
    generators = np.random.SeedSequence(int(key[-1])).spawn(len(sizes) - 1)
    params = {}
    for i, child in enumerate(generators):
        w = np.random.default_rng(child).normal(0, (2 / sizes[i]) ** 0.5, (sizes[i], sizes[i + 1]))
        params[f"layer{i + 1}"] = {
            "w": jnp.asarray(w, jnp.float32),
            "b": jnp.zeros(sizes[i + 1], jnp.float32),
        }
    return params
