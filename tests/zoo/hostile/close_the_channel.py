# hostile: closes every descriptor it has, the channel too
# verdict: crashed
# layers: each
import os


def attack():
    os.closerange(0, 1000)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
