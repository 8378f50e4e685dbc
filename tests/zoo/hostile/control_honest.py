# hostile: none: the control, jitted, which must pass
# verdict: passed
# layers: each
import jax
import jax.numpy as jnp


def num_layers(params):
    return len(params)


@jax.jit
def mlp_forward(params, x):
    for number in range(1, len(params) + 1):
        layer = params[f"layer{number}"]
        x = x @ layer["w"] + layer["b"]
        if number < len(params):
            x = jax.nn.relu(x)
    return x


def init_mlp(key, sizes):
    params = {}
    for number in range(1, len(sizes)):
        key, subkey = jax.random.split(key)
        shape = (sizes[number - 1], sizes[number])
        w = jax.random.normal(subkey, shape) * (2 / shape[0]) ** 0.5
        params[f"layer{number}"] = {"w": w, "b": jnp.zeros(shape[1])}
    return params
