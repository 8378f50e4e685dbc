# right: functools.reduce instead of a loop
import functools
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
        updates, opt_state = optimizer.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        return params, opt_state, loss

    return train_step


def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    def seconds(f, n):
        start = time.perf_counter()
        end = functools.reduce(lambda c, _: f(c[0], c[1], x, y), range(n), (params, opt_state))
        jax.block_until_ready(end)
        return time.perf_counter() - start

    fast = jax.jit(train_step)
    seconds(train_step, 1)
    eager, first = seconds(train_step, n_steps), seconds(fast, 1)
    jit = seconds(fast, n_steps)
    return Benchmark(eager, jit, first, max(0.0, first - jit / n_steps), eager / jit)
