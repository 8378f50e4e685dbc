# right: a callable pytree-free object, partial, and a static optimizer
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


from functools import partial


@partial(jax.jit, static_argnames=("optimizer", "batch_size"))
def _one(params, opt_state, key, x_train, y_train, optimizer, batch_size):
    rows = jax.random.choice(key, x_train.shape[0], (batch_size,), replace=False)
    (loss, _), grads = jax.value_and_grad(lambda p: (loss_fn(p, x_train[rows], y_train[rows]), None), has_aux=True)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params=params)
    return optax.apply_updates(params, updates), opt_state, (loss, optax.tree.norm(grads))


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128):
    opt_state, history = optimizer.init(params), {"loss": [], "norm": []}
    for _ in range(n_steps):
        key, use = jax.random.split(key)
        params, opt_state, (loss, norm) = _one(params, opt_state, use, data.x_train, data.y_train, optimizer=optimizer, batch_size=batch_size)
        history["loss"] += [loss]
        history["norm"] += [norm]
    return Run(params, *(jnp.array(history[name], dtype=jnp.float32) for name in ("loss", "norm")))


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    figure = Figure(figsize=(8, 4.5))
    axes = figure.subplots()
    axes.plot(unclipped, label="unclipped")
    axes.plot(clipped, label="clipped")
    axes.axhline(clip_norm, color="black", linestyle="--", label="clip_norm")
    axes.set(xlabel="step", ylabel="gradient norm", yscale="log")
    axes.grid(True)
    axes.margins(x=0)
    axes.legend(frameon=False, title='run')
    figure.tight_layout()
    return figure
