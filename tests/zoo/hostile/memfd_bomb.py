# hostile: hides memory in anonymous files, pipes and shared segments
# verdict: failed error crashed
# layers: each
import ctypes
import os

KEPT = []


def attack():
    fd = os.memfd_create("bomb")
    while True:
        os.write(fd, bytes(1 << 24))


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
