# hostile: allocates and touches memory by NumPy until it is gone
# verdict: failed error crashed timeout
# layers: each
import numpy as np

KEPT = []


def attack():
    while True:
        KEPT.append(np.ones(1 << 24))


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
