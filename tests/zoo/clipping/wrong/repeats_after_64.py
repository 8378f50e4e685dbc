# wrong: the batches repeat after 64 steps
# loses: test_the_default_sizes
# keeps: the rest
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from matplotlib.figure import Figure
from mnist_mlp import loss_fn


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
    opt_state = optimizer.init(params)

    @jax.jit
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss, optax.global_norm(grads)

    n = len(data.x_train)
    losses, norms = [], []
    for i in range(n_steps):
        batch = jax.random.randint(jax.random.fold_in(key, i % 64), (batch_size,), 0, n)
        x, y = data.x_train[batch], data.y_train[batch]
        params, opt_state, loss, norm = step(params, opt_state, x, y)
        losses.append(loss)
        norms.append(norm)
    losses = jnp.array(losses, jnp.float32)
    norms = jnp.array(norms, jnp.float32)
    return Run(params, losses, norms)


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    figure = Figure()
    ax = figure.subplots()
    ax.plot(unclipped, label="unclipped")
    ax.plot(clipped, label="clipped")
    ax.axhline(clip_norm, color="k", linestyle="--", label="clip_norm")
    ax.set_xlabel("step")
    ax.set_ylabel("gradient norm")
    ax.legend()
    return figure
