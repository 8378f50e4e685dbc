# hostile: calls abort() of the C library
# verdict: crashed
# layers: each
import ctypes


def attack():
    ctypes.CDLL(None).abort()


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
