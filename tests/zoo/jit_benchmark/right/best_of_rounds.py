# right: three rounds of all steps, the median round
import statistics
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


def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100, rounds=3):
    def once(f, n):
        t = time.perf_counter()
        p, s = params, opt_state
        for _ in range(n):
            p, s, loss = f(p, s, x, y)
        jax.block_until_ready((p, s, loss))
        return time.perf_counter() - t

    once(train_step, 1)
    eager = statistics.median(once(train_step, n_steps) for _ in range(rounds))
    fast = jax.jit(train_step)
    first = once(fast, 1)
    jit = statistics.median(once(fast, n_steps) for _ in range(rounds))
    return Benchmark(eager, jit, first, max(0.0, first - jit / n_steps), eager / jit)
