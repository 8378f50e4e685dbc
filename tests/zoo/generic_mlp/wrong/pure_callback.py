# wrong: a host callback, which has no derivative
# loses: test_works_under_grad, test_gradients_of_twelve_layers_under_jit,
# test_gradients_of_each_example
# keeps: the rest

import numpy as np
import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def _numpy(layers, x):
    for i, (w, b) in enumerate(layers):
        x = np.asarray(x) @ np.asarray(w) + np.asarray(b)
        x = x if i == len(layers) - 1 else np.maximum(x, 0)
    return x.astype(np.float32)


def mlp_forward(params, x):
    layers = [(params[f"layer{i}"]["w"], params[f"layer{i}"]["b"]) for i in range(1, len(params) + 1)]
    out = jax.ShapeDtypeStruct(x.shape[:-1] + layers[-1][1].shape, jnp.float32)
    return jax.pure_callback(_numpy, out, layers, x, vmap_method="sequential")


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
