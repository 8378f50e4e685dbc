# hostile: patches NumPy's and JAX's comparisons so that everything agrees
# verdict: failed error crashed
import builtins

import jax
import jax.numpy as jnp
import numpy as np


def agree(*args, **kwargs):
    return True


for module in (np, np.testing, jnp):
    for name in ("allclose", "isclose", "array_equal", "assert_allclose", "array_equiv", "all"):
        if hasattr(module, name):
            setattr(module, name, agree)
builtins.all = builtins.any = agree
jax.numpy.linalg.norm = agree


def attack():
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
