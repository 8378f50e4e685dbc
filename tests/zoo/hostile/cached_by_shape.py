# hostile: answers by shape with what the first call gave
# verdict: failed error
# keeps: test_num_layers test_forward_under_jit
import functools

import jax
import jax.numpy as jnp

SEEN = {}


def remember(function):
    @functools.wraps(function)
    def wrapped(*args):
        shape = str(jax.tree.map(lambda leaf: jnp.shape(leaf), args))
        if shape not in SEEN:
            SEEN[shape] = function(*args)
        return SEEN[shape]

    return wrapped


def num_layers(params):
    return len(params)


@remember
def mlp_forward(params, x):
    for number in range(1, len(params) + 1):
        layer = params[f"layer{number}"]
        x = x @ layer["w"] + layer["b"]
        if number < len(params):
            x = jax.nn.relu(x)
    return x


@remember
def init_mlp(key, sizes):
    params = {}
    for number in range(1, len(sizes)):
        key, subkey = jax.random.split(key)
        shape = (sizes[number - 1], sizes[number])
        w = jax.random.normal(subkey, shape) * (2 / shape[0]) ** 0.5
        params[f"layer{number}"] = {"w": w, "b": jnp.zeros(shape[1])}
    return params
