# hostile: reads address 0
# verdict: crashed
import ctypes


def attack():
    ctypes.string_at(0)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
