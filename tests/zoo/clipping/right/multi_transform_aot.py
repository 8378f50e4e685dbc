# right: optax.multi_transform, a step compiled ahead of time, a legend of the figure, in French
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from matplotlib.figure import Figure
from mnist_mlp import loss_fn


class Run(NamedTuple):
    params: dict
    losses: jax.Array
    grad_norms: jax.Array


def _all_of_them(tree):
    return jax.tree.map(lambda _: "everything", tree)


def make_optimizer(clip_norm=1.0, learning_rate=1e-3):
    clip = optax.identity() if clip_norm is None else optax.clip_by_global_norm(clip_norm)
    # One group holds all leaves, so that the norm is still the norm over all of them.
    return optax.multi_transform(
        {"everything": optax.chain(clip, optax.adam(learning_rate))}, _all_of_them
    )


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128):
    params = jax.tree.map(jnp.asarray, params)
    opt_state = optimizer.init(params)
    x_train, y_train = jnp.asarray(data.x_train), jnp.asarray(data.y_train)

    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        squares = jax.tree.map(lambda leaf: jnp.square(leaf).sum(), grads)
        norm = jnp.sqrt(jax.tree.reduce(jnp.add, squares))
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss, norm

    losses, norms = [], []
    compiled = None
    for number in range(n_steps):
        rows = jax.random.randint(
            jax.random.fold_in(key, number), (batch_size,), 0, x_train.shape[0]
        )
        batch = x_train[rows], y_train[rows]
        if compiled is None:
            compiled = jax.jit(step).lower(params, opt_state, *batch).compile()
        params, opt_state, loss, norm = compiled(params, opt_state, *batch)
        losses.append(loss)
        norms.append(norm)
    return Run(
        params,
        jnp.asarray(np.array(losses, dtype=np.float32)),
        jnp.asarray(np.array(norms, dtype=np.float32)),
    )


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    figure = Figure(figsize=(7.5, 4.2))
    axes = figure.add_axes((0.1, 0.12, 0.86, 0.74))
    axes.margins(x=0.01)
    (free,) = axes.semilogy(np.asarray(unclipped), color="#d95f02", label="sans écrêtage")
    (short,) = axes.semilogy(np.asarray(clipped), color="#1b9e77", label="avec écrêtage")
    limit = axes.axhline(clip_norm, color="0.3", linewidth=0.8, label=f"seuil {clip_norm:g}")
    axes.set_xlabel("pas")
    axes.set_ylabel("norme du gradient")
    figure.legend(handles=[free, short, limit], loc="upper center", ncols=3)
    return figure
