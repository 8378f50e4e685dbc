# wrong: accuracies on the first thousand test images only
# loses: test_accuracies_are_recomputed
# keeps: the rest
"""Exercise 1: dropout with threaded keys."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from mnist_mlp import Data, Params, accuracy, init_params


class Comparison(NamedTuple):
    """Two trainings that differ in nothing but dropout."""

    plain_params: Params
    plain_accuracy: float | jax.Array
    dropout_params: Params
    dropout_accuracy: float | jax.Array


def dropout(key: jax.Array, x: jax.Array, rate: float) -> jax.Array:
    """Zero each element with probability `rate`, scale the others up."""
    if rate == 0.0:
        return x
    noise = jax.random.uniform(key, x.shape)
    return jnp.where(noise < rate, 0, x / (1 - rate)).astype(x.dtype)


def forward_dropout(params: Params, x: jax.Array, key: jax.Array, rate: float) -> jax.Array:
    """The lesson's forward pass, dropout on both hidden layers."""
    h = x
    for name in ("layer1", "layer2"):
        key, subkey = jax.random.split(key)
        z = h @ params[name]["w"] + params[name]["b"]
        h = dropout(subkey, jax.nn.relu(z), rate)
    return h @ params["layer3"]["w"] + params["layer3"]["b"]


def loss_dropout(params, x, y, key, rate):
    """Mean cross-entropy with dropout."""
    logits = forward_dropout(params, x, key, rate)
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, y)
    return jnp.mean(losses)


def _train(key, params, data, rate, n_epochs, batch_size):
    """Train from `params`; order and masks follow from `key`."""
    optimizer = optax.adam(1e-3)
    opt_state = optimizer.init(params)
    n = data.x_train.shape[0]

    @jax.jit
    def update(params, opt_state, x, y, step_key):
        grads = jax.grad(loss_dropout)(params, x, y, step_key, rate)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    for _ in range(n_epochs):
        key, order_key = jax.random.split(key)
        order = jax.random.permutation(order_key, n)
        x_train, y_train = data.x_train[order], data.y_train[order]
        for start in range(0, n - batch_size + 1, batch_size):
            key, step_key = jax.random.split(key)
            rows = slice(start, start + batch_size)
            params, opt_state = update(params, opt_state, x_train[rows], y_train[rows], step_key)
    return params


def compare_dropout(
    key: jax.Array, data: Data, rate: float = 0.2, n_epochs: int = 10, batch_size: int = 128
) -> Comparison:
    """Train twice, without and with dropout."""
    init_key, run_key = jax.random.split(key)
    params = init_params(init_key)
    plain = _train(run_key, params, data, 0.0, n_epochs, batch_size)
    dropped = _train(run_key, params, data, rate, n_epochs, batch_size)
    return Comparison(
        plain_params=plain,
        plain_accuracy=float(accuracy(plain, data.x_test[:1000], data.y_test[:1000])),
        dropout_params=dropped,
        dropout_accuracy=float(accuracy(dropped, data.x_test[:1000], data.y_test[:1000])),
    )
