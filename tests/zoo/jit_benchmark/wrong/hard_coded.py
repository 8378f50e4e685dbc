# wrong: plausible numbers, nothing measured
# loses: test_eager_seconds
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
    eager, jitted, first = 0.0152 * n_steps, 0.0013 * n_steps, 0.42
    return Benchmark(eager, jitted, first, max(0.0, first - jitted / n_steps), eager / jitted)
