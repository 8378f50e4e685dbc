# right: match statements and recursion over the widths

import jax
import jax.numpy as jnp


def num_layers(params):
    return len(jax.tree.leaves(params)) // 2


def mlp_forward(params, x):
    def run(x, layers):
        match layers:
            case [last]:
                return x @ last["w"] + last["b"]
            case [first, *rest]:
                return run(jax.nn.relu(x @ first["w"] + first["b"]), rest)

    return run(x, [params[f"layer{i}"] for i in range(1, num_layers(params) + 1)])


def init_mlp(key, sizes):
    def build(key, number, widths):
        match widths:
            case [m, n, *rest]:
                subkey, key = jax.random.split(key)
                w = jax.random.normal(subkey, (m, n), "float32") * jnp.sqrt(2 / m)
                layer = {f"layer{number}": {"b": jnp.zeros(n, "float32"), "w": w}}
                return build(key, number + 1, [n, *rest]) | layer
            case _:
                return {}

    return build(key, 1, list(sizes))
