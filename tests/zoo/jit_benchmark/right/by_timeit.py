# right: by the timeit module
import timeit
from typing import NamedTuple

import jax
import optax
from mnist_mlp import loss_fn


class Benchmark(NamedTuple):
    eager_seconds: float
    jit_seconds: float
    first_call_seconds: float
    compile_seconds: float
    speedup: float


def make_train_step(optimizer):
    def train_step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        return params, opt_state, loss

    return train_step


def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    args = params, opt_state, x, y
    fast = jax.jit(train_step)
    timeit.timeit(lambda: jax.block_until_ready(train_step(*args)), number=1)
    eager = timeit.timeit(lambda: jax.block_until_ready(train_step(*args)), number=n_steps)
    first = timeit.timeit(lambda: jax.block_until_ready(fast(*args)), number=1)
    jit = timeit.timeit(lambda: jax.block_until_ready(fast(*args)), number=n_steps)
    return Benchmark(eager, jit, first, max(0.0, first - jit / n_steps), eager / jit)
