# right: lax.fori_loop over preallocated arrays; permutations by vmap in one table
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
    n = data.x_train.shape[0]
    shuffle = jax.vmap(lambda k: jax.random.permutation(k, n)[:batch_size])
    table = shuffle(jax.random.split(key, max(n_steps, 1)))

    def body(i, carry):
        params, opt_state, losses, norms = carry
        x, y = jnp.take(data.x_train, table[i], axis=0), jnp.take(data.y_train, table[i], axis=0)
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        norm = jnp.sqrt(optax.tree.norm(grads, squared=True))
        return optax.apply_updates(params, updates), opt_state, losses.at[i].set(loss), norms.at[i].set(norm)

    start = (params, optimizer.init(params), jnp.zeros(n_steps), jnp.zeros(n_steps))
    if n_steps:
        start = jax.lax.fori_loop(0, n_steps, body, start)
    params, _, losses, norms = start
    return Run(params, losses, norms)


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    from matplotlib.lines import Line2D

    fig = Figure()
    ax = fig.add_axes((0.1, 0.1, 0.8, 0.8))
    ax.plot(clipped, color="green", linewidth=1)
    ax.plot(unclipped, color="red", linewidth=3, alpha=0.4)
    ax.axhline(clip_norm, color="blue", linestyle="dashed")
    handles = [Line2D([], [], color="red"), Line2D([], [], color="green")]
    ax.legend(handles, ["unclipped run", "clipped run"])
    ax.set_xlabel("iteration")
    ax.set_ylabel("‖g‖")
    return fig
