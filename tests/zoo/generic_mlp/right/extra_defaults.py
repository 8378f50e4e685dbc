# right: extra arguments with defaults

import jax
import jax.numpy as jnp


def num_layers(params, leaves_per_layer=2):
    count, rest = divmod(len(jax.tree_util.tree_leaves(params)), leaves_per_layer)
    assert rest == 0
    return count


def mlp_forward(params, x, activation=jax.nn.relu, final=None, *, prefix="layer"):
    n = num_layers(params)
    for i in range(1, n + 1):
        layer = params[f"{prefix}{i}"]
        x = x @ layer["w"] + layer["b"]
        if i < n:
            x = activation(x)
    return x if final is None else final(x)


def init_mlp(key, sizes, gain=2.0, dtype=jnp.float32):
    keys = jax.random.split(key, len(sizes) - 1)
    return {
        f"layer{i + 1}": {
            "w": jax.random.normal(k, (m, n), dtype) * (gain / m) ** 0.5,
            "b": jnp.zeros(n, dtype),
        }
        for i, (k, m, n) in enumerate(zip(keys, sizes, sizes[1:]))
    }
