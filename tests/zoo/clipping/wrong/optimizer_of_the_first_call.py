# wrong: a jitted step of the module reads the optimizer from a global, once
# loses: test_any_optimizer_works
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


_current = {}


@jax.jit
def _step(params, state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, state = _current["optimizer"].update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss, optax.global_norm(grads)


def make_optimizer(
    clip_norm: float | None = 1.0, learning_rate: float = 1e-3
) -> optax.GradientTransformation:
    links = [] if clip_norm is None else [optax.clip_by_global_norm(clip_norm)]
    return optax.chain(*links, optax.adam(learning_rate))


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128):
    _current["optimizer"] = optimizer
    state = optimizer.init(params)
    losses, norms = [], []
    for k in jax.random.split(key, n_steps):
        rows = jax.random.randint(k, (batch_size,), 0, data.x_train.shape[0])
        params, state, loss, norm = _step(params, state, data.x_train[rows], data.y_train[rows])
        losses.append(loss)
        norms.append(norm)
    return Run(params, jnp.array(losses), jnp.array(norms))


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    fig = Figure(layout="constrained")
    ax = fig.add_subplot(xlabel="Step", ylabel="Global norm of the gradient")
    for series, colour, label in ((unclipped, "C3", "without clipping"), (clipped, "C0", "with clipping")):
        ax.semilogy(np.arange(len(series)), np.asarray(series), color=colour, lw=1, label=label)
    ax.axhline(clip_norm, color="0.3", lw=1)
    ax.legend()
    return fig
