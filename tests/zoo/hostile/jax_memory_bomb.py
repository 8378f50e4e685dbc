# hostile: allocates memory by JAX until it is gone
# verdict: failed error crashed timeout
# layers: each
import jax.numpy as jnp

KEPT = []


def attack():
    while True:
        KEPT.append(jnp.ones(1 << 24).block_until_ready())


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
