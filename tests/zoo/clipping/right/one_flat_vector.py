# right: ravel_pytree: parameters and gradients are one flat vector
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
    from jax.flatten_util import ravel_pytree

    flat, unravel = ravel_pytree(params)

    @jax.jit
    def step(flat, opt_state, rows):
        loss, grad = jax.value_and_grad(lambda v: loss_fn(unravel(v), data.x_train[rows], data.y_train[rows]))(flat)
        updates, opt_state = optimizer.update(grad, opt_state, flat)
        return flat + updates, opt_state, loss, jnp.linalg.norm(grad)

    opt_state = optimizer.init(flat)
    losses, norms = jnp.zeros(n_steps), jnp.zeros(n_steps)
    for i, k in enumerate(jax.random.split(key, n_steps)):
        rows = jnp.argsort(jax.random.uniform(k, (len(data.x_train),)))[:batch_size]
        flat, opt_state, loss, norm = step(flat, opt_state, rows)
        losses, norms = losses.at[i].set(loss), norms.at[i].set(norm)
    return Run(unravel(flat), losses, norms)


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    fig = Figure(layout="constrained")
    ax = fig.add_subplot()
    ax.step(range(len(unclipped)), unclipped, where="mid", color="tab:red", label="ohne Begrenzung")
    ax.step(range(len(clipped)), clipped, where="mid", color="tab:blue", label="mit Begrenzung")
    ax.axline((0, clip_norm), slope=0, color="0.5")
    fig.supxlabel("Schritt")
    fig.supylabel("Norm des Gradienten")
    ax.legend(ncols=2)
    return fig
