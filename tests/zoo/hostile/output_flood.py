# hostile: prints without end
# verdict: timeout
import os


def attack():
    while True:
        os.write(1, b"x" * 65_536)
        os.write(2, b"\xff" * 65_536)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
