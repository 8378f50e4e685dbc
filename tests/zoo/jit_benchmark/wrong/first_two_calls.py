# wrong: the first call is timed with a second one
# loses: test_first_call_seconds
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
        params = optax.apply_updates(params, updates)
        return params, opt_state, loss

    return train_step


def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    # without jit
    jax.block_until_ready(train_step(params, opt_state, x, y))
    p, s = params, opt_state
    start = time.perf_counter()
    for _ in range(n_steps):
        p, s, loss = train_step(p, s, x, y)
    jax.block_until_ready((p, s, loss))
    eager = time.perf_counter() - start

    # with jit
    step = jax.jit(train_step)
    start = time.perf_counter()
    p, s, loss = step(params, opt_state, x, y)
    jax.block_until_ready(step(p, s, x, y))
    first = time.perf_counter() - start
    p, s = params, opt_state
    start = time.perf_counter()
    for _ in range(n_steps):
        p, s, loss = step(p, s, x, y)
    jax.block_until_ready((p, s, loss))
    jitted = time.perf_counter() - start

    return Benchmark(eager, jitted, first, max(0.0, first - jitted / n_steps), eager / jitted)
