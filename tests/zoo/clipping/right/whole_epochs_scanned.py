# right: each epoch is one scan; a rest of an epoch is a shorter one
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


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128):
    per_epoch = len(data.x_train) // batch_size

    @jax.jit
    def epoch(state, batches):
        def step(state, rows):
            params, opt_state = state
            loss, grads = jax.value_and_grad(loss_fn)(params, data.x_train[rows], data.y_train[rows])
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return (optax.apply_updates(params, updates), opt_state), jnp.stack([loss, optax.global_norm(grads)])

        return jax.lax.scan(step, state, batches)

    state, records, left = (params, optimizer.init(params)), [np.zeros((0, 2))], n_steps
    while left > 0:
        key, now = jax.random.split(key)
        rows = jax.random.permutation(now, len(data.x_train))[: per_epoch * batch_size]
        batches = rows.reshape(per_epoch, batch_size)[:left]
        state, record = epoch(state, batches)
        records.append(np.asarray(record))
        left -= len(batches)
    table = np.concatenate(records)
    return Run(state[0], table[:, 0], table[:, 1])


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    figure = Figure(figsize=(8, 4.5))
    axes = figure.subplots()
    axes.plot(unclipped, label="unclipped")
    axes.plot(clipped, label="clipped")
    axes.axhline(clip_norm, color="black", linestyle="--", label="clip_norm")
    axes.set(xlabel="step", ylabel="gradient norm", yscale="log")
    axes.legend()
    return figure
