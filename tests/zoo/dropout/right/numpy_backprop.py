# right: exponential clocks for the mask; compare_dropout back-propagates in NumPy by hand
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from mnist_mlp import Data, Params, accuracy, init_params


class Comparison(NamedTuple):
    plain_params: Params
    plain_accuracy: float | jax.Array
    dropout_params: Params
    dropout_accuracy: float | jax.Array


def dropout(key: jax.Array, x: jax.Array, rate: float) -> jax.Array:
    x = jnp.asarray(x)
    if rate == 0:
        return x
    # An exponential clock rings later than t with probability exp(-t) = 1 - rate.
    t = -float(np.log1p(-rate))
    alive = jax.random.exponential(key, x.shape, jnp.float32) >= t
    return jax.lax.select(alive, x / (1.0 - rate), jnp.zeros_like(x))


def _layer_keys(key):
    return jax.random.split(key, 2)


def forward_dropout(params: Params, x: jax.Array, key: jax.Array, rate: float) -> jax.Array:
    keys = _layer_keys(key)
    hidden = jax.nn.relu(x @ params["layer1"]["w"] + params["layer1"]["b"])
    hidden = dropout(keys[0], hidden, rate)
    hidden = jax.nn.relu(hidden @ params["layer2"]["w"] + params["layer2"]["b"])
    hidden = dropout(keys[1], hidden, rate)
    return hidden @ params["layer3"]["w"] + params["layer3"]["b"]


def loss_dropout(params, x, y, key, rate):
    logits = forward_dropout(params, x, key, rate)
    return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(logits, jnp.asarray(y)))


def _gradient(params, x, y, masks):
    """The gradient of `loss_dropout` for a batch, the masks being given; all in NumPy."""
    one, two, three = params["layer1"], params["layer2"], params["layer3"]
    a1 = x @ one["w"] + one["b"]
    h1 = np.maximum(a1, 0) * masks[0]
    a2 = h1 @ two["w"] + two["b"]
    h2 = np.maximum(a2, 0) * masks[1]
    logits = h2 @ three["w"] + three["b"]

    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    d3 = e / e.sum(axis=1, keepdims=True)
    d3[np.arange(len(y)), y] -= 1
    d3 /= np.float32(len(y))
    d2 = (d3 @ three["w"].T) * masks[1] * (a2 > 0)
    d1 = (d2 @ two["w"].T) * masks[0] * (a1 > 0)
    return {
        "layer1": {"w": x.T @ d1, "b": d1.sum(axis=0)},
        "layer2": {"w": h1.T @ d2, "b": d2.sum(axis=0)},
        "layer3": {"w": h2.T @ d3, "b": d3.sum(axis=0)},
    }


def _masks(step_key, params, n, rate):
    widths = (params["layer1"]["b"].size, params["layer2"]["b"].size)
    return [
        np.asarray(dropout(key, jnp.ones((n, width), jnp.float32), rate))
        for key, width in zip(_layer_keys(step_key), widths, strict=True)
    ]


def compare_dropout(
    key: jax.Array, data: Data, rate: float = 0.2, n_epochs: int = 10, batch_size: int = 128
) -> Comparison:
    init_key, order_key, noise_key = jax.random.split(key, 3)
    start = jax.tree.map(np.asarray, init_params(init_key))
    x_train, y_train = np.asarray(data.x_train), np.asarray(data.y_train)
    optimizer = optax.adam(1e-3)

    @jax.jit
    def update(grads, state, params):
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    def run(rate):
        params, state, n_done = start, optimizer.init(start), 0
        for epoch in range(n_epochs):
            epoch_key = jax.random.fold_in(order_key, epoch)
            order = np.asarray(jax.random.permutation(epoch_key, len(x_train)))
            for first in range(0, len(order), batch_size):
                rows = order[first : first + batch_size]
                masks = _masks(jax.random.fold_in(noise_key, n_done), params, len(rows), rate)
                grads = _gradient(params, x_train[rows], y_train[rows], masks)
                params, state = update(grads, state, params)
                params = jax.tree.map(np.asarray, params)
                n_done += 1
        return params, float(accuracy(params, data.x_test, data.y_test))

    return Comparison(*run(0.0), *run(rate))
