# right: ahead of time; the first execution is also the first of the steps
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
    def run(f, p, s):
        t = time.monotonic()
        out = jax.block_until_ready(f(p, s, x, y))
        return out, time.monotonic() - t

    run(train_step, params, opt_state)
    eager, p, s = 0.0, params, opt_state
    for _ in range(n_steps):
        (p, s, _), dt = run(train_step, p, s)
        eager += dt

    t = time.monotonic()
    compiled = jax.jit(train_step).lower(params, opt_state, x, y).compile()
    compiling = time.monotonic() - t
    jit, p, s, first = 0.0, params, opt_state, None
    for _ in range(n_steps):
        (p, s, _), dt = run(compiled, p, s)
        first = compiling + dt if first is None else first
        jit += dt
    return Benchmark(eager, jit, first, max(0.0, first - jit / n_steps), eager / jit)
