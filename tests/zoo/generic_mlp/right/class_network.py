# right: a class holds the layers, the functions are thin

import jax
from jax import nn, random
from jax import numpy as np


class Network:
    """An MLP over a parameter dict."""

    def __init__(self, params):
        self.params = params
        self.depth = sum(1 for _ in params.values())

    def layer(self, index):
        found = self.params["layer" + str(index)]
        return found["w"], found["b"]

    def __call__(self, x):
        for index in range(1, self.depth):
            w, b = self.layer(index)
            x = nn.relu(np.dot(x, w) + b)
        w, b = self.layer(self.depth)
        return np.dot(x, w) + b


def num_layers(params):
    return Network(params).depth


def mlp_forward(params, x):
    return Network(params)(x)


def init_mlp(key, sizes):
    params = dict()
    index = 0
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        index += 1
        key, sub = random.split(key)
        limit = np.sqrt(6 / fan_in)
        params["layer" + str(index)] = dict(
            b=np.zeros(fan_out), w=random.uniform(sub, (fan_in, fan_out), minval=-limit, maxval=limit)
        )
    return params
