# wrong: waits for the first leaf of the new parameters only, and warms up twice
# loses: test_eager_waits_for_the_parameters, test_eager_waits_for_the_state,
#   test_eager_waits_for_the_loss
# keeps: the rest
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
    loss_and_grads = jax.value_and_grad(loss_fn)

    def train_step(params, opt_state, x, y):
        """One step of training."""
        loss, grads = loss_and_grads(params, x, y)
        updates, new_state = optimizer.update(grads, opt_state, params)
        new_params = optax.apply_updates(params, updates)
        return new_params, new_state, loss

    return train_step


def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    def timed(function, repeats):
        begin = timeit.default_timer()
        for _ in range(repeats):
            outputs = jax.tree.leaves(function(params, opt_state, x, y))
            outputs[0].block_until_ready()
        return timeit.default_timer() - begin

    timed(train_step, 2)
    slow = timed(train_step, n_steps)
    function = jax.jit(train_step)
    first = timed(function, 1)
    timed(function, 2)
    fast = timed(function, n_steps)
    return Benchmark(slow, fast, first, max(0.0, first - fast / n_steps), slow / fast)
