# right: lambdas and a composition of functions

from functools import partial, reduce

import jax
import jax.numpy as jnp


num_layers = lambda params: len(jax.tree.leaves(params)) >> 1


compose = lambda f, g: lambda x: g(f(x))
affine = lambda layer, x: jnp.matmul(x, layer["w"]) + layer["b"]
mlp_forward = lambda params, x: reduce(
    compose,
    [
        step
        for i in range(num_layers(params))
        for step in (jax.nn.relu, partial(affine, params[f"layer{i + 1}"]))
    ][1:],
)(x)


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
