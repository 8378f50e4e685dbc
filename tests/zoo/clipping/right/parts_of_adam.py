# right: Adam from its parts; the norm is written down by a link of the chain
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
    links = [optax.scale_by_adam(), optax.scale_by_learning_rate(learning_rate)]
    if clip_norm:
        links = [optax.clip_by_global_norm(clip_norm), *links]
    return optax.chain(*links)


def noting():
    def update(grads, state, params=None):
        return grads, optax.global_norm(grads)

    return optax.GradientTransformation(lambda params: jnp.zeros(()), update)


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128):
    both = optax.chain(noting(), optimizer)
    n = len(data.x_train)

    def step(carry, key):
        params, state = carry
        rows = jax.random.permutation(key, n)[:batch_size]
        x, y = data.x_train[rows], data.y_train[rows]
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, state = both.update(grads, state, params)
        return (optax.apply_updates(params, updates), state), (loss, state[0])

    run = jax.jit(lambda params, keys: jax.lax.scan(step, (params, both.init(params)), keys))
    (params, _), (losses, norms) = run(params, jax.random.split(key, n_steps))
    return Run(params=params, losses=losses, grad_norms=norms)


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    from matplotlib.collections import LineCollection

    fig = Figure()
    ax = fig.subplots()
    for values, colour, name in ((unclipped, "crimson", "unclipped"), (clipped, "navy", "clipped")):
        path = np.stack([np.arange(len(values)), np.asarray(values)], axis=1)
        ax.add_collection(LineCollection([path], colors=[colour], label=name))
    ax.plot([0, 1], [clip_norm, clip_norm], transform=ax.get_yaxis_transform(), color="black")
    ax.autoscale()
    ax.set(xlabel="step", ylabel="norm")
    ax.legend()
    return fig
