# hostile: sleeps for ever at import
# verdict: timeout
import time

time.sleep(10_000)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
