# right: NumPy shuffles by a generator seeded from the key; float64 NumPy results; two Axes
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
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.key_data(key)
    generator = np.random.default_rng(np.asarray(key))
    images, labels = np.asarray(data.x_train), np.asarray(data.y_train)
    grad = jax.jit(jax.value_and_grad(loss_fn))
    change = jax.jit(optimizer.update)
    opt_state = optimizer.init(params)
    losses, norms = np.zeros(n_steps), np.zeros(n_steps)
    for i in range(n_steps):
        rows = generator.choice(len(images), batch_size, replace=False)
        loss, grads = grad(params, images[rows], labels[rows])
        losses[i] = loss
        norms[i] = np.sqrt(sum((np.asarray(g, np.float64) ** 2).sum() for g in jax.tree.leaves(grads)))
        updates, opt_state = change(grads, opt_state, params)
        params = jax.tree.map(lambda p, u: np.asarray(p + u), params, updates)
    return Run(params, losses, norms)


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    fig = Figure(figsize=(6, 8))
    top, bottom = fig.subplots(2, 1)
    top.plot(np.asarray(unclipped), label="unclipped")
    bottom.plot(np.asarray(clipped), label="clipped")
    bottom.hlines(clip_norm, 0, len(clipped), colors="r")
    bottom.set_xlabel("step")
    for ax in (top, bottom):
        ax.set_ylabel("norm")
        ax.legend()
    return fig
