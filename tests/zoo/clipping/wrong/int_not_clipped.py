# wrong: clips only where clip_norm is a float
# loses: test_the_arguments_are_used
# keeps: the rest
import typing

import jax
import matplotlib.figure
import numpy as np
import optax
from jax import numpy as jnp
from matplotlib.figure import Figure

from mnist_mlp import loss_fn


class Run(typing.NamedTuple):
    params: typing.Any
    losses: typing.Any
    grad_norms: typing.Any


def make_optimizer(clip_norm=1.0, learning_rate=1e-3):
    adam = optax.adam(learning_rate)
    if isinstance(clip_norm, float):
        return optax.chain(optax.clip_by_global_norm(clip_norm), adam)
    return adam


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128):
    """Scan over batches drawn with replacement."""
    n_train = data.x_train.shape[0]

    def step(carry, key):
        params, opt_state = carry
        rows = jax.random.randint(key, (batch_size,), 0, n_train)
        x, y = data.x_train[rows], data.y_train[rows]
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        norm = optax.global_norm(grads)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return (optax.apply_updates(params, updates), opt_state), (loss, norm)

    keys = jax.random.split(key, n_steps)
    carry = (params, optimizer.init(params))
    (params, _), (losses, norms) = jax.jit(lambda c, k: jax.lax.scan(step, c, k))(carry, keys)
    return Run(params, losses, norms)


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    fig = Figure(layout="constrained")
    ax = fig.add_subplot(xlabel="Step", ylabel="Global norm of the gradient")
    for series, colour, label in ((unclipped, "C3", "without clipping"), (clipped, "C0", "with clipping")):
        ax.semilogy(np.arange(len(series)), np.asarray(series), color=colour, lw=1, label=label)
    ax.axhline(clip_norm, color="0.3", lw=1)
    ax.legend()
    return fig
