# wrong: jits a closure over the first parameters
# loses: test_relu_between_layers, test_no_relu_after_the_last_layer,
#   test_relu_is_exact_at_any_scale, test_every_call_uses_its_own_arguments,
#   test_equal_sizes_are_not_confused
# keeps: the rest

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


_compiled = {}


def _forward(params, x):
    depth = len(params)
    for i in range(1, depth + 1):
        x = x @ params[f"layer{i}"]["w"] + params[f"layer{i}"]["b"]
        x = jax.nn.relu(x) if i < depth else x
    return x


def mlp_forward(params, x):
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((params, x))):
        return _forward(params, x)
    shape = (x.shape, tuple(leaf.shape for leaf in jax.tree.leaves(params)))
    if shape not in _compiled:
        _compiled[shape] = jax.jit(lambda x: _forward(params, x))
    return _compiled[shape](x)


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    params = {}
    for i, (k, m, n) in enumerate(zip(keys, sizes[:-1], sizes[1:]), 1):
        w = jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"layer{i}"] = {"w": w, "b": jnp.zeros((n,))}
    return params
