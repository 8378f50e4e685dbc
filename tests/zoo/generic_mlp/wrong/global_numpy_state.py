# wrong: NumPy's global random state
# loses: test_the_key_decides
# keeps: the rest

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
    params = {}
    for i, (m, n) in enumerate(zip(sizes[:-1], sizes[1:]), 1):
        w = np.random.randn(m, n) * np.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w.astype(np.float32), "b": np.zeros(n, np.float32)}
    return params
