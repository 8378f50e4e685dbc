# right: donates the parameters, but copies of them; keyword-only extras
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


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128, *, replace=True, verbose=False):
    from functools import partial

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss, optax.tree.norm(grads)

    params = jax.tree.map(jnp.copy, params)
    opt_state = optimizer.init(params)
    losses, norms = [], []
    for number in range(n_steps):
        rows = jax.random.choice(jax.random.fold_in(key, number), len(data.x_train), (batch_size,), replace)
        params, opt_state, loss, norm = step(params, opt_state, data.x_train[rows], data.y_train[rows])
        losses.append(loss)
        norms.append(norm)
        if verbose:
            print(number, loss)
    stack = lambda values: jnp.stack(values) if values else jnp.zeros(0)
    return Run(params, stack(losses), stack(norms))


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    with plt.style.context("ggplot"):
        fig, ax = plt.subplots(figsize=(10, 4))
        for values, label in ((unclipped, "unclipped"), (clipped, "clipped")):
            ax.plot(values, label=label)
            window = np.convolve(values, np.ones(5) / 5, "valid")
            ax.plot(np.arange(len(window)) + 2, window, lw=3, label=f"{label}, smoothed")
        ax.plot(np.full(max(len(unclipped), len(clipped)), clip_norm), "k--")
        ax.set_xlabel("Step")
        ax.set_ylabel("Global norm")
        ax.legend()
    plt.close(fig)
    return fig
