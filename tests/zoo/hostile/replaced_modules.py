# hostile: replaces mnist_mlp, jax.nn, numpy and the grader in sys.modules
# verdict: failed error crashed
import sys
import types


class Anything(types.ModuleType):
    def __getattr__(self, name):
        return lambda *args, **kwargs: True


def attack():
    for name in ("mnist_mlp", "generic_mlp", "jax.nn", "numpy", "grader.wire", "grader.probes.common"):
        sys.modules[name] = Anything(name)


attack()


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
