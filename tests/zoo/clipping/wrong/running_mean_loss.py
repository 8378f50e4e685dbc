# wrong: losses are running means
# loses: test_losses_are_before_the_update, test_loss_and_norm_are_of_one_batch,
#   test_the_default_sizes
# keeps: the rest
# named: running-mean
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
    def step(state, batch):
        params, opt_state = state
        loss, grads = jax.value_and_grad(loss_fn)(params, data.x_train[batch], data.y_train[batch])
        updates, opt_state = optimizer.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        return (params, opt_state), (loss, optax.tree.norm(grads))

    batches = jax.random.randint(key, (n_steps, batch_size), 0, len(data.x_train))
    start = params, optimizer.init(params)
    (params, _), (losses, grad_norms) = jax.lax.scan(step, start, batches)
    return Run(params, jnp.cumsum(losses) / jnp.arange(1, n_steps + 1), grad_norms)


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    figure = Figure(figsize=(8, 4.5))
    axes = figure.subplots()
    axes.plot(unclipped, label="unclipped")
    axes.plot(clipped, label="clipped")
    axes.axhline(clip_norm, color="black", linestyle="--", label="clip_norm")
    axes.set(xlabel="step", ylabel="gradient norm", yscale="log")
    axes.legend()
    return figure
