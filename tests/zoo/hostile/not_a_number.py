# hostile: returns NaN, empty, and wrongly shaped or typed arrays that a lax check accepts
# verdict: failed error
import numpy as np


def num_layers(params):
    return np.float32("nan")


def mlp_forward(params, x):
    return np.zeros((0, 64), np.float32)


def init_mlp(key, sizes):
    return {
        f"layer{i}": {"w": np.float64(0), "b": np.zeros((0,), np.float32)}
        for i in range(1, len(sizes))
    }
