# right: steps of both kinds take turns, their times are added up
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
    def one(f):
        start = time.perf_counter()
        jax.block_until_ready(f(params, opt_state, x, y))
        return time.perf_counter() - start

    fast = jax.jit(train_step)
    one(train_step)
    first = one(fast)
    eager = jit = 0.0
    for _ in range(n_steps):
        eager += one(train_step)
        jit += one(fast)
    return Benchmark(eager, jit, first, max(0.0, first - jit / n_steps), eager / jit)
