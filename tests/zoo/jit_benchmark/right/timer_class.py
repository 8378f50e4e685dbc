# right: a stopwatch as a context manager, monotonic clock
from contextlib import contextmanager
from time import monotonic
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


class Stopwatch:
    def __enter__(self):
        self.begin = monotonic()
        return self

    def __exit__(self, *exc):
        self.seconds = monotonic() - self.begin


class TrainStep:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.value_and_grad = jax.value_and_grad(loss_fn)

    def __call__(self, params, opt_state, x, y):
        loss, grads = self.value_and_grad(params, x, y)
        updates, opt_state = self.optimizer.update(grads, opt_state, params=params)
        return optax.apply_updates(params, updates), opt_state, loss


def make_train_step(optimizer):
    return TrainStep(optimizer)


class Bench:
    def __init__(self, step, *args):
        self.step, self.args = step, args

    def run(self, n):
        with Stopwatch() as w:
            p, s, x, y = self.args
            for _ in range(n):
                p, s, l = self.step(p, s, x, y)
                jax.tree.map(lambda a: a.block_until_ready(), (p, s, l))
        return w.seconds


def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    slow = Bench(train_step, params, opt_state, x, y)
    fast = Bench(jax.jit(train_step), params, opt_state, x, y)
    slow.run(1)
    first = fast.run(1)
    e, j = slow.run(n_steps), fast.run(n_steps)
    return Benchmark(e, j, first, max(0.0, first - j / n_steps), e / j)
