# wrong: each step without jit waits for the one before, the last is not waited for
# loses: test_eager_waits_for_the_loss
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
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return train_step

def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    clock = time.perf_counter
    jax.block_until_ready(train_step(params, opt_state, x, y))
    start = clock()
    out = None
    for i in range(n_steps):
        jax.block_until_ready(out)
        out = train_step(params, opt_state, x, y)
        if n_steps == 1:
            jax.block_until_ready(out)
    eager = clock() - start
    jax.block_until_ready(out)
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
