# hostile: leaves Python by os._exit(0) at import, as if all were well
# verdict: crashed
# layers: each
import os

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
