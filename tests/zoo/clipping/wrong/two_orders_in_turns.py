# wrong: even epochs and odd epochs have one order each
# loses: test_every_epoch_has_a_new_order
# keeps: test_the_key_decides_the_batches, test_batches_are_whole_and_from_the_training_split,
#   test_losses_are_before_the_update
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
    @jax.jit
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss, optax.tree.norm(grads)

    opt_state = optimizer.init(params)
    n_train = len(data.x_train)
    losses, norms = [], []
    order, at, epoch = None, n_train, 0
    for _ in range(n_steps):
        if at + batch_size > n_train:
            subkey, epoch = jax.random.fold_in(key, epoch % 2), epoch + 1
            order, at = np.asarray(jax.random.permutation(subkey, n_train)), 0
        batch = order[at : at + batch_size]
        at += batch_size
        x, y = data.x_train[batch], data.y_train[batch]
        params, opt_state, loss, norm = step(params, opt_state, x, y)
        losses.append(loss)
        norms.append(norm)
    return Run(params, jnp.array(losses), jnp.array(norms))


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    figure = Figure(figsize=(8, 4.5))
    axes = figure.subplots()
    axes.plot(unclipped, label="unclipped")
    axes.plot(clipped, label="clipped")
    axes.axhline(clip_norm, color="black", linestyle="--", label="clip_norm")
    axes.set(xlabel="step", ylabel="gradient norm", yscale="log")
    axes.legend()
    return figure
