# hostile: compiles 60,000 unrolled steps
# verdict: timeout error crashed
import jax
import jax.numpy as jnp


def attack():
    @jax.jit
    def long(x):
        for i in range(60_000):
            x = jnp.sin(x) * (1 + i)
        return x

    long(jnp.float32(1)).block_until_ready()


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
