# hostile: raises SystemExit(0), at which a test runner may stop without a failure
# verdict: error
import sys


def attack():
    sys.exit(0)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
