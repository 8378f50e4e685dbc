# right: a trainer class whose step is lowered and compiled ahead of time; with replacement
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


class Trainer:
    def __init__(self, optimizer, params, data, batch_size):
        self.optimizer, self.data, self.batch_size = optimizer, data, batch_size
        self.state = (params, optimizer.init(params))
        example = (self.state, data.x_train[:1].repeat(batch_size, 0), data.y_train[:1].repeat(batch_size, 0))
        self.compiled = jax.jit(self._step).lower(*example).compile()

    def _step(self, state, x, y):
        params, opt_state = state
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = self.optimizer.update(grads, opt_state, params)
        return (optax.apply_updates(params, updates), opt_state), (loss, optax.global_norm(grads))

    def advance(self, key):
        rows = jax.random.choice(key, len(self.data.x_train), (self.batch_size,))
        self.state, record = self.compiled(self.state, self.data.x_train[rows], self.data.y_train[rows])
        return record


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128):
    trainer = Trainer(optimizer, params, data, batch_size)
    records = []
    while len(records) < n_steps:
        key, now = jax.random.split(key)
        records.append(trainer.advance(now))
    losses, norms = np.array(records, np.float32).reshape(n_steps, 2).T
    return Run(trainer.state[0], jnp.asarray(losses), jnp.asarray(norms))


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    fig = Figure()
    left, right = fig.subplots(1, 2, sharey=True)
    left.plot(unclipped, label="Unclipped")
    right.plot(clipped, label="Clipped")
    for ax in (left, right):
        ax.axhline(clip_norm)
        ax.set_xlabel("Step")
    left.set_ylabel("Gradient norm")
    fig.legend()
    return fig
