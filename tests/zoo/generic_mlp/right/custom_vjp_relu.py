# right: a ReLU with a hand-written derivative, 1 at exactly 0

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


@jax.custom_vjp
def relu(x):
    return jnp.maximum(x, 0)


def _relu_fwd(x):
    return relu(x), x >= 0


def _relu_bwd(positive, ct):
    return (jnp.where(positive, ct, 0),)


relu.defvjp(_relu_fwd, _relu_bwd)


def mlp_forward(params, x):
    n = num_layers(params)
    for i in range(1, n + 1):
        x = x @ params[f"layer{i}"]["w"] + params[f"layer{i}"]["b"]
        x = relu(x) if i < n else x
    return x


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
