# hostile: returns more than a frame may hold
# verdict: failed error crashed timeout
import numpy as np


def num_layers(params):
    return list(range(3_000_000))


def mlp_forward(params, x):
    return np.zeros(80_000_000, np.float32)


def init_mlp(key, sizes):
    return {f"layer{i}": {"w": "x" * 3_000_000, "b": 0} for i in range(1, len(sizes))}
