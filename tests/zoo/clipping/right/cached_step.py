# right: the step is built once for each optimizer and kept by lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax
from matplotlib.figure import Figure
from mnist_mlp import init_params, loss_fn


class Run(NamedTuple):
    params: dict
    losses: jax.Array
    grad_norms: jax.Array


def make_optimizer(clip_norm=1.0, learning_rate=1e-3):
    adam = optax.adam(learning_rate)
    if clip_norm is None:
        return adam
    return optax.chain(optax.clip_by_global_norm(clip_norm), adam)


import functools


@functools.lru_cache
def _step_of(optimizer):
    @jax.jit
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss, optax.global_norm(grads)

    return step


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128):
    step, opt_state, record = _step_of(optimizer), optimizer.init(params), np.zeros((2, n_steps), np.float32)
    for i, rows in enumerate(np.asarray(jax.random.randint(key, (n_steps, batch_size), 0, len(data.x_train)))):
        params, opt_state, *record[:, i] = step(params, opt_state, data.x_train[rows], data.y_train[rows])
    return Run(params, *record)


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    figure = Figure(layout='constrained')
    axes = figure.subplots()
    axes.plot(unclipped, label="clipping: no")
    axes.plot(clipped, label="clipping: yes")
    axes.axhline(clip_norm, color="black", linestyle="--", label="clip_norm")
    axes.set(xlabel="step", ylabel="gradient norm", yscale="log")
    figure.legend(loc='outside upper center')
    return figure
