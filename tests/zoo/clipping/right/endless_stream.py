# right: batches come from an endless stream of permutations and may span two epochs
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


def stream(key, n):
    while True:
        key, now = jax.random.split(key)
        yield from np.asarray(jax.random.permutation(now, n)).tolist()


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128):
    from itertools import islice

    rows = stream(key, len(data.x_train))

    @jax.jit
    def step(params, opt_state, x, y):
        loss, pullback = jax.vjp(lambda p: loss_fn(p, x, y), params)
        (grads,) = pullback(jnp.ones_like(loss))
        updates, opt_state = optimizer.update(grads, opt_state, params)
        squares = jax.tree.reduce(lambda a, g: a + jnp.sum(jnp.square(g)), grads, 0.0)
        return optax.apply_updates(params, updates), opt_state, loss, jnp.sqrt(squares)

    opt_state = optimizer.init(params)
    losses, norms = [], []
    for _ in range(n_steps):
        batch = np.array(list(islice(rows, batch_size)))
        params, opt_state, loss, norm = step(params, opt_state, data.x_train[batch], data.y_train[batch])
        losses.append(loss.item())
        norms.append(norm.item())
    return Run(params, np.asarray(losses), np.asarray(norms))


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    fig = Figure()
    ax = fig.subplots()
    twin = ax.twinx()
    (one,) = ax.plot(unclipped, "C0", label="unclipped")
    (two,) = twin.plot(clipped, "C1", label="clipped")
    low, high = 0, 1.1 * max(float(jnp.max(unclipped)), float(jnp.max(clipped)), clip_norm)
    for axes in (ax, twin):
        axes.set_ylim(low, high)
    line = ax.axhline(clip_norm, color="k")
    ax.set(xlabel="steps", ylabel="norms")
    ax.legend([one, two, line], ["unclipped", "clipped", "bound"])
    return fig
