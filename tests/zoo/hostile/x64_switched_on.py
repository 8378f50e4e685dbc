# hostile: switches on 64-bit mode and answers in float64
# verdict: failed error
# keeps: test_num_layers
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def num_layers(params):
    return len(params)


def mlp_forward(params, x):
    for number in range(1, len(params) + 1):
        layer = params[f"layer{number}"]
        x = x @ layer["w"] + layer["b"]
        if number < len(params):
            x = jax.nn.relu(x)
    return x.astype(jnp.float64)


def init_mlp(key, sizes):
    params = {}
    for number in range(1, len(sizes)):
        key, subkey = jax.random.split(key)
        shape = (sizes[number - 1], sizes[number])
        w = jax.random.normal(subkey, shape, jnp.float64) * (2 / shape[0]) ** 0.5
        params[f"layer{number}"] = {"w": w, "b": jnp.zeros(shape[1], jnp.float64)}
    return params
