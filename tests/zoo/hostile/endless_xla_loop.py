# hostile: runs a loop in XLA that never ends and holds no lock of Python
# verdict: timeout error
import jax
import jax.numpy as jnp


def attack():
    jax.lax.while_loop(lambda x: x >= 0, lambda x: (x + 1) % 1000, jnp.int32(0)).block_until_ready()


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
