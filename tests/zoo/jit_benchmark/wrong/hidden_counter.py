# wrong: a counter behind the step changes the loss from the fourth call on
# loses: test_step_is_pure
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
    calls = []

    def train_step(params, opt_state, x, y):
        calls.append(1)
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss + 0 * len(calls) + (len(calls) > 3) * 1e-2

    return train_step

def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    clock = time.perf_counter
    jax.block_until_ready(train_step(params, opt_state, x, y))
    start = clock()
    for _ in range(n_steps):
        out = jax.block_until_ready(train_step(params, opt_state, x, y))
    eager = clock() - start
    jitted = jax.jit(train_step)
    start = clock()
    jax.block_until_ready(jitted(params, opt_state, x, y))
    first = clock() - start
    start = clock()
    for _ in range(n_steps):
        out = jax.block_until_ready(jitted(params, opt_state, x, y))
    jit = clock() - start
    compile_seconds = max(0.0, first - jit / n_steps)
    speedup = eager / jit
    return Benchmark(eager, jit, first, compile_seconds, speedup)
