# wrong: above 200 steps the eager time is scaled up from 200
# loses: test_default_is_a_hundred_measured_steps
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
    """One step of training, without jit."""

    def train_step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, new_state = optimizer.update(grads, opt_state, params)
        new_params = optax.apply_updates(params, updates)
        return new_params, new_state, loss

    return train_step


def _seconds(function, args, n):
    """Elapsed seconds of n calls, always with the same arguments."""
    begin = time.perf_counter()
    for _ in range(n):
        jax.block_until_ready(function(*args))
    return time.perf_counter() - begin


def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    """Time the step both ways."""
    args = (params, opt_state, x, y)
    jitted = jax.jit(lambda *args: train_step(*args))

    first = _seconds(jitted, args, 1)
    jit = _seconds(jitted, args, n_steps)

    _seconds(train_step, args, 2)  # warm-up
    measured = min(n_steps, 200)  # without jit it takes long
    eager = _seconds(train_step, args, measured) * n_steps / measured

    compiling = max(first - jit / n_steps, 0.0)
    return Benchmark(eager, jit, first, compiling, eager / jit)
