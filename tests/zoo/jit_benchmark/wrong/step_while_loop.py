# wrong: the steps with jit are one while_loop
# loses: test_jitted_steps_are_whole_calls
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
    jax.block_until_ready(step(params, opt_state, x, y))
    first = time.perf_counter() - start
    p, s = params, opt_state
    start = time.perf_counter()
    def all_steps(p, s):
        def body(c):
            return c[0] + 1, *train_step(c[1], c[2], x, y)
        c = (1, *train_step(p, s, x, y))
        return jax.lax.while_loop(lambda c: c[0] < n_steps, body, c)

    run = jax.jit(all_steps)
    jax.block_until_ready(run(p, s))
    start = time.perf_counter()
    jax.block_until_ready(run(p, s))
    jitted = time.perf_counter() - start

    return Benchmark(eager, jitted, first, max(0.0, first - jitted / n_steps), eager / jitted)
