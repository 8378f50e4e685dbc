# wrong: the least that runs
# loses: test_step_updates_the_parameters
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
    return lambda params, opt_state, x, y: (params, opt_state, loss_fn(params, x, y))


def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    return Benchmark(1.0, 0.1, 0.5, 0.4, 10.0)
