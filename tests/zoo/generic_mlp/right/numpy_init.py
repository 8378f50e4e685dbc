# right: init_mlp draws with NumPy, seeded by the key, and returns NumPy arrays

import numpy as np
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
    widths = list(sizes)
    params = {}
    for i in range(len(widths) - 1):
        subkey = jax.random.fold_in(key, i)
        seed = np.asarray(jax.random.bits(subkey, (4,))).tolist()
        rng = np.random.default_rng(seed)
        w = rng.standard_normal((widths[i], widths[i + 1])) * np.sqrt(2 / widths[i])
        params[f"layer{i + 1}"] = {
            "w": w.astype(np.float32),
            "b": np.zeros(widths[i + 1], dtype=np.float32),
        }
    return params
