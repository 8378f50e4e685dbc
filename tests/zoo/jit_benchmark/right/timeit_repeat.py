# right: timeit with three repeats of all steps, the best one counts
import timeit
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
    def seconds(f, number, repeat):
        run = lambda: jax.block_until_ready(f(params, opt_state, x, y))
        return min(timeit.repeat(run, number=number, repeat=repeat))

    fast = jax.jit(train_step)
    seconds(train_step, 1, 1)
    eager = seconds(train_step, n_steps, 3)
    first = seconds(fast, 1, 1)
    jit = seconds(fast, n_steps, 3)
    return Benchmark(eager, jit, first, max(0.0, first - jit / n_steps), eager / jit)
