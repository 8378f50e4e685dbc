# right: the jitted side comes first, integers of nanoseconds
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
    args = (params, opt_state, x, y)
    fast = jax.jit(train_step)

    def nanoseconds(f, n):
        t = time.perf_counter_ns()
        outs = [f(*args) for _ in range(n)]
        jax.block_until_ready(outs)
        return time.perf_counter_ns() - t

    first = nanoseconds(fast, 1) / 1e9
    jit = nanoseconds(fast, n_steps) / 1e9
    nanoseconds(train_step, 1)
    eager = nanoseconds(train_step, n_steps) / 1e9
    compiling = first - jit / n_steps
    return Benchmark(
        speedup=eager / jit,
        compile_seconds=compiling if compiling > 0 else 0.0,
        first_call_seconds=first,
        jit_seconds=jit,
        eager_seconds=eager,
    )
