# right: a generator of single laps in nanoseconds, summed; the gradient by jax.jacrev
import itertools
import statistics
import time
from collections.abc import Iterator
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
        loss = loss_fn(params, x, y)
        grads = jax.jacrev(loss_fn)(params, x, y)  # of a scalar: the gradient
        updates, new_state = optimizer.update(grads, opt_state, params)
        new_params = jax.tree.map(lambda p, u: (p + u).astype(p.dtype), params, updates)
        return new_params, new_state, loss

    return train_step


def _laps(step, *arguments) -> Iterator[int]:
    """Call `step` again and again; each time, the nanoseconds until all its results were there."""
    while True:
        start = time.perf_counter_ns()
        results = step(*arguments)
        jax.block_until_ready(results)
        yield time.perf_counter_ns() - start
        del results


def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    def fresh_step(params, opt_state, x, y):
        return train_step(params, opt_state, x, y)

    eager = _laps(train_step, params, opt_state, x, y)
    next(eager), next(eager)  # the warm-up
    eager_laps = list(itertools.islice(eager, n_steps))

    jitted = _laps(jax.jit(fresh_step), params, opt_state, x, y)
    first, _second = next(jitted), next(jitted)
    jit_laps = list(itertools.islice(jitted, n_steps))

    steady = statistics.median(jit_laps)
    return Benchmark(
        eager_seconds=sum(eager_laps) / 1e9,
        jit_seconds=sum(jit_laps) / 1e9,
        first_call_seconds=first / 1e9,
        compile_seconds=max(0.0, (first - steady) / 1e9),
        speedup=sum(eager_laps) / sum(jit_laps),
    )
