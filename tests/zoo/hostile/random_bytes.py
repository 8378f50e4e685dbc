# hostile: writes random bytes to every descriptor
# verdict: failed error crashed
import os


def attack():
    for fd in range(1, 256):
        try:
            os.write(fd, os.urandom(10_000))
        except OSError:
            pass


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
