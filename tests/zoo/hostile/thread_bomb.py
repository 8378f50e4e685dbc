# hostile: starts threads until it cannot
# verdict: failed error crashed timeout
# layers: each
import threading
import time


def attack():
    while True:
        threading.Thread(target=time.sleep, args=(10_000,)).start()


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
