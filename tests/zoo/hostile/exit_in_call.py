# hostile: leaves Python by os._exit(0) in each function
# verdict: crashed
import os


def attack():
    os._exit(0)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
