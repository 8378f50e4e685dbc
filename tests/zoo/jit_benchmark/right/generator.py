# right: a generator makes the steps, recursion-free; names in German
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


def make_train_step(optimierer):
    wert_und_gradient = jax.value_and_grad(loss_fn)

    def schritt(parameter, zustand, bilder, ziffern):
        verlust, gradient = wert_und_gradient(parameter, bilder, ziffern)
        änderung, zustand = optimierer.update(gradient, zustand, parameter)
        return jax.tree.map(lambda p, ä: p + ä, parameter, änderung), zustand, verlust

    return schritt


def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    def schritte(f):
        zustand = params, opt_state
        while True:
            *zustand, verlust = f(*zustand, x, y)
            yield (zustand, verlust)

    def dauer(quelle, anzahl):
        beginn = time.perf_counter()
        for _ in range(anzahl):
            jax.block_until_ready(next(quelle))
        return time.perf_counter() - beginn

    langsam, schnell = schritte(train_step), schritte(jax.jit(train_step))
    dauer(langsam, 1)
    ohne = dauer(langsam, n_steps)
    erster = dauer(schnell, 1)
    mit = dauer(schnell, n_steps)
    return Benchmark(ohne, mit, erster, max(0.0, erster - mit / n_steps), ohne / mit)
