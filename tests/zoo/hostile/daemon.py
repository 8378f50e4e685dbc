# hostile: leaves a daemon in a session of its own that outlives it
# verdict: failed error
# layers: each
import os
import time


def attack():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                time.sleep(1)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
