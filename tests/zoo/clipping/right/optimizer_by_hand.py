# right: clipping and Adam written by hand as one GradientTransformation
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


class AdamState(NamedTuple):
    step: jax.Array
    first: dict
    second: dict


def make_optimizer(clip_norm=1.0, learning_rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    def init(params):
        return AdamState(jnp.zeros((), jnp.int32), jax.tree.map(jnp.zeros_like, params), jax.tree.map(jnp.zeros_like, params))

    def update(grads, state, params=None):
        if clip_norm is not None:
            norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads)))
            factor = jnp.minimum(1.0, clip_norm / (norm + 1e-6))
            grads = jax.tree.map(lambda g: factor * g, grads)
        step = state.step + 1
        first = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, state.first, grads)
        second = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * g**2, state.second, grads)
        c1, c2 = 1 - beta1 ** step.astype(jnp.float32), 1 - beta2 ** step.astype(jnp.float32)
        updates = jax.tree.map(lambda m, v: -learning_rate * (m / c1) / (jnp.sqrt(v / c2) + eps), first, second)
        return updates, AdamState(step, first, second)

    return optax.GradientTransformation(init, update)


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128):
    @jax.jit
    def step(i, params, opt_state):
        rows = jax.random.randint(jax.random.fold_in(key, i), (batch_size,), 0, data.x_train.shape[0])
        loss, grads = jax.value_and_grad(loss_fn)(params, data.x_train[rows], data.y_train[rows])
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss, optax.global_norm(grads)

    opt_state = optimizer.init(params)
    trace = []
    for i in range(n_steps):
        params, opt_state, *record = step(i, params, opt_state)
        trace.append(record)
    losses = np.array([float(a) for a, _ in trace], np.float32)
    norms = np.array([float(b) for _, b in trace], np.float32)
    return Run(params, losses, norms)


def plot_grad_norms(unclipped, clipped, clip_norm=1.0, title="Effect of clipping"):
    with plt.rc_context({"lines.linewidth": 0.8, "axes.grid": True}):
        fig = plt.figure()
        plt.semilogy(np.arange(1, len(clipped) + 1), clipped, "--", label="clipped")
        plt.semilogy(np.arange(1, len(unclipped) + 1), unclipped, "-", label="not clipped")
        plt.plot([1, max(len(clipped), len(unclipped))], [clip_norm, clip_norm], "k", label="clipped at this norm")
        plt.xlabel("step")
        plt.ylabel("norm")
        plt.title(title)
        plt.legend()
        plt.close()
    return fig
