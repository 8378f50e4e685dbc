# wrong: update is given the parameters only where it fails without them
# loses: test_adamw_gets_the_parameters
# keeps: the rest
import time
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
        try:
            updates, opt_state = optimizer.update(grads, opt_state)
        except ValueError:
            updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return train_step


def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    jax.block_until_ready(train_step(params, opt_state, x, y))
    start = time.perf_counter()
    for _ in range(n_steps):
        jax.block_until_ready(train_step(params, opt_state, x, y))
    eager_seconds = time.perf_counter() - start

    jit_step = jax.jit(train_step)
    start = time.perf_counter()
    jax.block_until_ready(jit_step(params, opt_state, x, y))
    first_call_seconds = time.perf_counter() - start

    start = time.perf_counter()
    for _ in range(n_steps):
        out = jit_step(params, opt_state, x, y)
    jax.block_until_ready(out)
    jit_seconds = time.perf_counter() - start

    return Benchmark(
        eager_seconds=eager_seconds,
        jit_seconds=jit_seconds,
        first_call_seconds=first_call_seconds,
        compile_seconds=max(first_call_seconds - jit_seconds / n_steps, 0.0),
        speedup=eager_seconds / jit_seconds,
    )
