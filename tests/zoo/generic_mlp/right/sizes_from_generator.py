# right: walks sizes with an iterator and remembers the width before; unused star imports

import jax
from jax import *
from jax.numpy import *


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    for i in range(1, num_layers(params) + 1):
        x = (maximum(x, 0) if i > 1 else x) @ params["layer%i" % i]["w"] + params["layer%i" % i]["b"]
    return x


def init_mlp(key, sizes):
    params, before = {}, None
    for i, width in enumerate(sizes):
        if before is not None:
            key, subkey = jax.random.split(key)
            w = jax.random.normal(subkey, (before, width), dtype=float32)
            params["layer%i" % i] = {"w": w * sqrt(2 / before), "b": zeros((width,), float32)}
        before = width
    return params
