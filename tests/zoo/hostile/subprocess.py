# hostile: starts programs in every way that Python knows
# verdict: failed error
# layers: each
import multiprocessing
import os
import subprocess
import sys


def attack():
    done = []
    for start in (
        lambda: subprocess.run([sys.executable, "-c", "print('CANARY-STARTED')"], check=True),
        lambda: os.posix_spawn("/bin/sh", ["sh", "-c", "true"], {}),
        lambda: multiprocessing.Process(target=print).start(),
        lambda: os.execv(sys.executable, [sys.executable, "-c", "print('CANARY-STARTED')"]),
    ):
        try:
            start()
            done.append("CANARY-STARTED")
        except OSError:
            pass
    if os.system("true") == 0:
        done.append("CANARY-STARTED")
    raise RuntimeError(f"FOUND {done}")


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
