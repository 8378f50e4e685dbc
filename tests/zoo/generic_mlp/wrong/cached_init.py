# wrong: remembers the first parameters for each sizes
# loses: test_the_key_decides
# keeps: the rest

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


_made = {}


def init_mlp(key, sizes):
    sizes = tuple(sizes)
    if sizes not in _made:
        keys = jax.random.split(key, len(sizes) - 1)
        _made[sizes] = {
            f"layer{i}": {
                "w": jax.random.normal(keys[i - 1], sizes[i - 1 : i + 1]) * jnp.sqrt(2.0 / sizes[i - 1]),
                "b": jnp.zeros(sizes[i]),
            }
            for i in range(1, len(sizes))
        }
    return _made[sizes]
