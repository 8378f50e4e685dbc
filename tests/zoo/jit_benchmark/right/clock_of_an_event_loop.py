# right: the clock of an event loop of asyncio; under jit only the loss of the last call is waited for
import asyncio
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
        updates, opt_state = optimizer.update(grads, opt_state, params=params)
        return optax.apply_updates(params, updates), opt_state, loss

    return train_step


def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    loop = asyncio.new_event_loop()
    try:
        clock = loop.time

        p, s = params, opt_state
        for _ in range(2):
            p, s, loss = jax.block_until_ready(train_step(p, s, x, y))
        start = clock()
        for _ in range(n_steps):
            p, s, loss = jax.block_until_ready(train_step(p, s, x, y))
        eager = clock() - start

        jitted = jax.jit(train_step)
        start = clock()
        p, s, loss = jitted(params, opt_state, x, y)
        loss.block_until_ready()
        first = clock() - start

        for _ in range(2):
            p, s, loss = jitted(p, s, x, y)
        loss.block_until_ready()
        start = clock()
        for _ in range(n_steps):
            p, s, loss = jitted(p, s, x, y)
        loss.block_until_ready()
        jit = clock() - start
    finally:
        loop.close()
    return Benchmark(eager, jit, first, max(0.0, first - jit / n_steps), eager / jit)
