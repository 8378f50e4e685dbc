# hostile: returns an object whose __array__ gives what is asked of it
# verdict: failed error
import numpy as np


class Chameleon:
    def __array__(self, dtype=None, copy=None):
        return np.zeros((4, 5), np.float32)

    def __jax_array__(self):
        return np.zeros((4, 5), np.float32)

    def __array_ufunc__(self, *args, **kwargs):
        return True

    def __array_function__(self, *args, **kwargs):
        return True


def num_layers(params):
    return Chameleon()


def mlp_forward(params, x):
    return Chameleon()


def init_mlp(key, sizes):
    return {f"layer{i}": {"w": Chameleon(), "b": Chameleon()} for i in range(1, len(sizes))}
