# wrong: a custom derivative that is twice too large for the weights
# loses: test_works_under_grad, test_gradients_of_twelve_layers_under_jit,
# test_gradients_of_each_example
# keeps: the rest

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


@jax.custom_vjp
def dense(x, w, b):
    return x @ w + b


def _fwd(x, w, b):
    return x @ w + b, (x, w)


def _bwd(saved, ct):
    x, w = saved
    rows, cts = jnp.atleast_2d(x), jnp.atleast_2d(ct)
    return ct @ w.T, 2 * rows.T @ cts, cts.sum(axis=0)


dense.defvjp(_fwd, _bwd)


def mlp_forward(params, x):
    depth = len(params)
    for i in range(1, depth + 1):
        x = dense(x, params[f"layer{i}"]["w"], params[f"layer{i}"]["b"])
        x = jax.nn.relu(x) if i < depth else x
    return x


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
