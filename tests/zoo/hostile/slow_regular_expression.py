# hostile: runs a regular expression of exponential time, which holds the lock of Python
# verdict: timeout
import re


def attack():
    re.match(r"(a+)+$", "a" * 60 + "b")


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
