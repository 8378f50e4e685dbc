# wrong: no eager warm-up where there is one step only
# loses: test_eager_warm_up_is_not_counted
# keeps: the rest
"""Exercise 4: what jax.jit buys, and what it costs."""

import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
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
    # Without jit, after two calls of warm-up.
    state = (params, opt_state)
    for _ in range(min(2, n_steps - 1)):
        result = jax.block_until_ready(train_step(*state, x, y))
        state = result[:2]
    start = time.perf_counter()
    for _ in range(n_steps):
        result = jax.block_until_ready(train_step(*state, x, y))
        state = result[:2]
    eager_seconds = time.perf_counter() - start

    # With jit: the first call compiles. A function of its own, so that nothing is cached.
    def step(params, opt_state, x, y):
        return train_step(params, opt_state, x, y)

    jitted = jax.jit(step)
    state = (params, opt_state)
    start = time.perf_counter()
    result = jax.block_until_ready(jitted(*state, x, y))
    first_call_seconds = time.perf_counter() - start

    # The results may have other types than the arguments had: go on until nothing compiles.
    for _ in range(2):
        result = jax.block_until_ready(jitted(*result[:2], x, y))
    state = result[:2]
    start = time.perf_counter()
    for _ in range(n_steps):
        result = jax.block_until_ready(jitted(*state, x, y))
        state = result[:2]
    jit_seconds = time.perf_counter() - start

    return Benchmark(
        eager_seconds=eager_seconds,
        jit_seconds=jit_seconds,
        first_call_seconds=first_call_seconds,
        compile_seconds=max(0.0, first_call_seconds - jit_seconds / n_steps),
        speedup=eager_seconds / jit_seconds,
    )
