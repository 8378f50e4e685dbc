# right: a context manager holds the clock, datetime is the clock
import datetime
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


class Clock:
    def __enter__(self):
        self.begin = datetime.datetime.now()
        return self

    def __exit__(self, *_):
        self.seconds = (datetime.datetime.now() - self.begin).total_seconds()


def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    args = params, opt_state, x, y
    jax.block_until_ready(train_step(*args))
    with Clock() as eager:
        jax.block_until_ready([train_step(*args) for _ in range(n_steps)])
    fast = jax.jit(train_step)
    with Clock() as first:
        jax.block_until_ready(fast(*args))
    with Clock() as jitted:
        jax.block_until_ready([fast(*args) for _ in range(n_steps)])
    one = jitted.seconds / n_steps
    return Benchmark(
        eager_seconds=eager.seconds,
        jit_seconds=jitted.seconds,
        first_call_seconds=first.seconds,
        compile_seconds=max(first.seconds - one, 0.0),
        speedup=eager.seconds / jitted.seconds,
    )
