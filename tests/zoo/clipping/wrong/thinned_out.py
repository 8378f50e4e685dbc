# wrong: of more than 500 steps only every k-th is drawn
# loses: test_series_of_any_lengths
# keeps: the rest
import typing

import jax
import matplotlib.figure
import numpy as np
import optax
from jax import numpy as jnp
from matplotlib.figure import Figure

from mnist_mlp import loss_fn


class Run(typing.NamedTuple):
    params: typing.Any
    losses: typing.Any
    grad_norms: typing.Any


def make_optimizer(
    clip_norm: float | None = 1.0, learning_rate: float = 1e-3
) -> optax.GradientTransformation:
    links = [] if clip_norm is None else [optax.clip_by_global_norm(clip_norm)]
    return optax.chain(*links, optax.adam(learning_rate))


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128):
    """Scan over batches drawn with replacement."""
    n_train = data.x_train.shape[0]

    def step(carry, key):
        params, opt_state = carry
        rows = jax.random.randint(key, (batch_size,), 0, n_train)
        x, y = data.x_train[rows], data.y_train[rows]
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        norm = optax.global_norm(grads)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return (optax.apply_updates(params, updates), opt_state), (loss, norm)

    keys = jax.random.split(key, n_steps)
    carry = (params, optimizer.init(params))
    (params, _), (losses, norms) = jax.jit(lambda c, k: jax.lax.scan(step, c, k))(carry, keys)
    return Run(params, losses, norms)


def _thin(series, most=500):
    series = np.asarray(series)
    every = max(1, len(series) // most)
    return np.arange(len(series))[::every], series[::every]


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    figure = Figure(figsize=(7, 4))
    ax = figure.subplots()
    ax.plot(*_thin(unclipped), label="unclipped")
    ax.plot(*_thin(clipped), label="clipped")
    ax.axhline(clip_norm, color="k", label="clip_norm")
    ax.set(xlabel="step", ylabel="gradient norm", yscale="log")
    ax.legend()
    return figure
