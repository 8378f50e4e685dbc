# right: optax.inject_hyperparams, all epochs' orders by one vmap, two Axes above each other
from typing import NamedTuple

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
import optax
from matplotlib.figure import Figure
from mnist_mlp import Data, Params, loss_fn


class Run(NamedTuple):
    params: Params
    losses: jax.Array
    grad_norms: jax.Array


def _adam_behind_clip(learning_rate, clip_norm):
    return optax.chain(optax.clip_by_global_norm(clip_norm), optax.adam(learning_rate))


def make_optimizer(
    clip_norm: float | None = 1.0, learning_rate: float = 1e-3
) -> optax.GradientTransformation:
    if clip_norm is None:
        return optax.adam(learning_rate)
    # The learning rate becomes part of the state, where one can change it between steps.
    adjustable = optax.inject_hyperparams(
        _adam_behind_clip, static_args=("clip_norm",), hyperparam_dtype=jnp.float32
    )
    return adjustable(learning_rate=learning_rate, clip_norm=clip_norm)


def _batches(key, n_train, n_steps, batch_size):
    """(n_steps, batch_size) row numbers: epoch after epoch in one long line, cut into batches."""
    n_epochs = max(1, -(-n_steps * batch_size // n_train))

    def order(epoch):
        return jax.random.permutation(jax.random.fold_in(key, epoch), n_train)

    line = jax.vmap(order)(jnp.arange(n_epochs)).ravel()
    return line[: n_steps * batch_size].reshape(n_steps, batch_size)


def train_with_norms(
    key: jax.Array,
    params: Params,
    optimizer: optax.GradientTransformation,
    data: Data,
    n_steps: int = 200,
    batch_size: int = 128,
) -> Run:
    @jax.jit
    def step(params, opt_state, x_train, y_train, rows):
        loss, grads = jax.value_and_grad(loss_fn)(params, x_train[rows], y_train[rows])
        flat = [jnp.ravel(leaf) for leaf in jax.tree.leaves(grads)]
        norm = jnp.linalg.norm(jnp.concatenate(flat))
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, jnp.stack([loss, norm])

    params = jax.tree.map(jnp.asarray, params)
    opt_state = optimizer.init(params)
    x_train, y_train = jnp.asarray(data.x_train), jnp.asarray(data.y_train)
    records = [jnp.zeros((0, 2), jnp.float32)]
    for rows in np.asarray(_batches(key, x_train.shape[0], n_steps, batch_size)):
        params, opt_state, record = step(params, opt_state, x_train, y_train, rows)
        records.append(record[None])
    table = jnp.concatenate(records)
    return Run(params, losses=table[:, 0], grad_norms=table[:, 1])


def plot_grad_norms(unclipped, clipped, clip_norm: float = 1.0) -> Figure:
    with matplotlib.rc_context({"axes.grid": True, "lines.linewidth": 0.9}):
        figure = Figure(figsize=(7, 6), layout="tight")
        upper, lower = figure.subplots(2, 1, sharex=True, sharey=True)
        rows = [
            (upper, unclipped, "C0", "unclipped run"),
            (lower, clipped, "C1", "clipped run"),
        ]
        for axes, norms, color, label in rows:
            norms = np.asarray(norms)
            axes.plot(range(1, len(norms) + 1), norms, color=color, label=label)
            axes.axhline(clip_norm, color="k", linestyle="--", label=f"clip_norm = {clip_norm:g}")
            axes.set_xlabel("training step")
            axes.set_ylabel("raw gradient norm")
            axes.legend()
    return figure
