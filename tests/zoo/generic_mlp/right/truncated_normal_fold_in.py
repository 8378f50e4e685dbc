# right: he_normal, which is truncated, and fold_in for the subkeys

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
    he = jax.nn.initializers.he_normal()
    return {
        f"layer{i}": {
            "w": he(jax.random.fold_in(key, i), (sizes[i - 1], sizes[i]), jnp.float32),
            "b": jnp.zeros_like(jnp.arange(sizes[i]), dtype=jnp.float32),
        }
        for i in range(1, len(sizes))
    }
