# right: where and cond instead of a minimum; multi-transform of tree_map
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

    def update(grads, state, params=None):
        norm = optax.global_norm(grads)
        grads = jax.lax.cond(
            norm > clip_norm, lambda g: jax.tree.map(lambda v: v * (clip_norm / norm), g), lambda g: g, grads
        )
        return adam.update(grads, state, params)

    return optax.GradientTransformation(adam.init, update)


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128):
    def step(state, batch):
        params, opt_state = state
        loss, grads = jax.value_and_grad(loss_fn)(params, data.x_train[batch], data.y_train[batch])
        updates, opt_state = optimizer.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        return (params, opt_state), (loss, optax.tree.norm(grads))

    batches = jax.random.randint(key, (n_steps, batch_size), 0, len(data.x_train))
    start = params, optimizer.init(params)
    (params, _), (losses, grad_norms) = jax.lax.scan(step, start, batches, unroll=2)
    return Run(params, losses, grad_norms)


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    figure = plt.figure()
    axes = figure.gca()
    axes.errorbar(jnp.arange(len(unclipped)), unclipped, label="no clipping")
    axes.errorbar(jnp.arange(len(clipped)), clipped, label="clipped")
    axes.axhline(y=clip_norm, xmin=0, xmax=1)
    axes.set_title("Gradient norms, clipped and unclipped")
    axes.set(xlabel="Step number", ylabel="norm at each step")
    axes.legend()
    plt.close("all")
    return figure
