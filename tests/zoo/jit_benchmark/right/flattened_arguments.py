# right: the jitted function works on flat lists of leaves
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
    leaves, treedef = jax.tree.flatten((params, opt_state))

    def flat(leaves):
        p, s, loss = train_step(*jax.tree.unflatten(treedef, leaves), x, y)
        return jax.tree.leaves((p, s)), loss

    def seconds(f, n):
        now = leaves
        start = time.perf_counter()
        for _ in range(n):
            now, loss = f(now)
        jax.block_until_ready((now, loss))
        return time.perf_counter() - start

    def plain(n):
        p, s = params, opt_state
        start = time.perf_counter()
        for _ in range(n):
            p, s, loss = train_step(p, s, x, y)
        jax.block_until_ready((p, s, loss))
        return time.perf_counter() - start

    plain(1)
    eager = plain(n_steps)
    fast = jax.jit(flat)
    first = seconds(fast, 1)
    jit = seconds(fast, n_steps)
    return Benchmark(eager, jit, first, max(0.0, first - jit / n_steps), eager / jit)
