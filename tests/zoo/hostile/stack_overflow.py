# hostile: recurses until the C stack is gone
# verdict: crashed error
# layers: each
import sys


def attack():
    sys.setrecursionlimit(1 << 30)

    class Deep:
        def __repr__(self):
            return repr([self])

        __str__ = __repr__

    repr(Deep())


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
