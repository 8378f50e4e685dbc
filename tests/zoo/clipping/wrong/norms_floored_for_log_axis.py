# wrong: norms below 1e-3 are raised to it for the logarithmic axis
# loses: test_series_of_any_lengths
# keeps: the rest
"""Exercise 5: gradient clipping."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from matplotlib.figure import Figure
from mnist_mlp import Params, loss_fn


class Run(NamedTuple):
    params: Params
    losses: jax.Array
    grad_norms: jax.Array


def make_optimizer(clip_norm=1.0, learning_rate=1e-3):
    adam = optax.adam(learning_rate)
    if clip_norm is None:
        return adam
    return optax.chain(optax.clip_by_global_norm(clip_norm), adam)


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128):
    n = len(data.x_train)

    @jax.jit
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss, optax.global_norm(grads)

    opt_state = optimizer.init(params)
    losses, norms = [], []
    for i in range(n_steps):
        batch = jax.random.randint(jax.random.fold_in(key, i), (batch_size,), 0, n)
        params, opt_state, loss, norm = step(
            params, opt_state, data.x_train[batch], data.y_train[batch]
        )
        losses.append(loss)
        norms.append(norm)
    return Run(params, jnp.array(losses), jnp.array(norms))


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    figure = Figure(figsize=(8, 4.5))
    ax = figure.subplots()
    for label, values in (("unclipped", unclipped), ("clipped", clipped)):
        values = np.maximum(np.asarray(values), 1e-3)  # log(0) has no place on the axis
        steps = np.arange(len(values))
        ax.plot(steps, values, label=label, linewidth=1)
    ax.axhline(clip_norm, color="black", linestyle="--", label=f"threshold {clip_norm:g}")
    ax.set_xlabel("step")
    ax.set_ylabel("gradient norm")
    ax.set_yscale("log")
    ax.legend()
    return figure
