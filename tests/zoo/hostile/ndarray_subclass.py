# hostile: returns a subclass of ndarray that overrides comparison and every ufunc
# verdict: failed error
import numpy as np


class Agreeable(np.ndarray):
    def __eq__(self, other):
        return np.ones(self.shape, bool)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return np.zeros(self.shape, np.float32).view(Agreeable)

    def __array_function__(self, *args, **kwargs):
        return True

    def tobytes(self, *args):
        return b""


def num_layers(params):
    return np.zeros((), np.int32).view(Agreeable)


def mlp_forward(params, x):
    width = params[f"layer{len(params)}"]["b"].shape[0]
    return np.zeros((*x.shape[:-1], width), np.float32).view(Agreeable)


def init_mlp(key, sizes):
    return {
        f"layer{i}": {
            "w": np.zeros((sizes[i - 1], sizes[i]), np.float32).view(Agreeable),
            "b": np.zeros(sizes[i], np.float32).view(Agreeable),
        }
        for i in range(1, len(sizes))
    }
