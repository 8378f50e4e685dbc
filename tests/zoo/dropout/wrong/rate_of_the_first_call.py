# wrong: a jitted step of the module reads the rate from a global, once
# loses: test_rate_of_training
# keeps: the rest
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from mnist_mlp import Data, Params, accuracy, init_params, load_mnist


class Comparison(NamedTuple):
    """Two trainings that differ in nothing but dropout.

    The accuracies lie in [0, 1] and are measured on the test split, without dropout.
    """

    plain_params: Params
    plain_accuracy: float | jax.Array
    dropout_params: Params
    dropout_accuracy: float | jax.Array


def dropout(key: jax.Array, x: jax.Array, rate: float) -> jax.Array:
    """Zero each element of `x` with probability `rate` and scale the others up.

    Args:
        key: a PRNG key, raw or typed.
        x: a finite array of any shape.
        rate: the probability of being zeroed, 0 <= rate < 1; a Python float, never traced.

    Returns:
        An array of the shape and dtype of `x`; survivors are `x / (1 - rate)`.
    """
    keep = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), jnp.zeros_like(x))


def forward_dropout(params: Params, x: jax.Array, key: jax.Array, rate: float) -> jax.Array:
    """The forward pass of the lesson with dropout on its two hidden layers.

    Args:
        params: `{'layer1': {'w', 'b'}, 'layer2': ..., 'layer3': ...}`, any widths.
        x: one example `(features,)` or a batch `(batch, features)`.
        key: a PRNG key, split here for the two dropout layers.
        rate: the dropout rate, 0 <= rate < 1; a Python float.

    Returns:
        Logits, `(classes,)` or `(batch, classes)`.
    """
    hidden = x
    for name, subkey in zip(("layer1", "layer2"), jax.random.split(key), strict=True):
        layer = params[name]
        hidden = dropout(subkey, jax.nn.relu(hidden @ layer["w"] + layer["b"]), rate)
    return hidden @ params["layer3"]["w"] + params["layer3"]["b"]


def loss_dropout(
    params: Params, x: jax.Array, y: jax.Array, key: jax.Array, rate: float
) -> jax.Array:
    """Mean softmax cross-entropy of `forward_dropout(params, x, key, rate)`.

    Args:
        params: as in `forward_dropout`.
        x: one example `(features,)` or a batch `(batch, features)`.
        y: integer labels, `()` or `(batch,)`.
        key: a PRNG key, handed on to `forward_dropout` as it is.
        rate: the dropout rate, 0 <= rate < 1; a Python float.

    Returns:
        A scalar.
    """
    logits = forward_dropout(params, x, key, rate)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
OPTIMIZER = optax.adam(1e-3)


_current = {"rate": 0.0}


@jax.jit
def plain_step(params, opt_state, x, y, key):
    """One step of Adam without dropout."""
    grads = jax.grad(loss_dropout)(params, x, y, key, 0.0)
    updates, opt_state = OPTIMIZER.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


@jax.jit
def dropout_step(params, opt_state, x, y, key):
    """One step of Adam at the current rate, which jit reads once."""
    grads = jax.grad(loss_dropout)(params, x, y, key, _current["rate"])
    updates, opt_state = OPTIMIZER.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


def train(
    key: jax.Array, params: Params, data: Data, rate: float, n_epochs: int, batch_size: int
) -> Params:
    """Train from `params`; the batches depend on `key` alone, never on `rate`."""
    _current["rate"] = rate
    n = len(data.x_train)
    opt_state = OPTIMIZER.init(params)
    for epoch in range(n_epochs):
        shuffle_key, dropout_key = jax.random.split(jax.random.fold_in(key, epoch))
        order = jax.random.permutation(shuffle_key, n)
        for step in range(n // batch_size):
            batch = order[step * batch_size : (step + 1) * batch_size]
            step_of = plain_step if rate == 0.0 else dropout_step
            params, opt_state = step_of(
                params,
                opt_state,
                data.x_train[batch],
                data.y_train[batch],
                jax.random.fold_in(dropout_key, step),
            )
    return params


def compare_dropout(
    key: jax.Array, data: Data, rate: float = 0.2, n_epochs: int = 10, batch_size: int = 128
) -> Comparison:
    """Train the MLP without and with dropout, everything else being equal.

    Args:
        key: a PRNG key; the whole experiment follows from it.
        data: the images and labels, see `mnist_mlp.Data`.
        rate: the dropout rate of the second run, 0 <= rate < 1; a Python float.
        n_epochs: how often each run goes through the training split.
        batch_size: how many examples a step sees, at most the training split's size.

    Returns:
        The parameters of both runs and their accuracies on the test split.
    """
    init_key, train_key = jax.random.split(key)
    initial = init_params(init_key)
    plain = train(train_key, initial, data, 0.0, n_epochs, batch_size)
    dropped = train(train_key, initial, data, rate, n_epochs, batch_size)
    return Comparison(
        plain,
        accuracy(plain, data.x_test, data.y_test),
        dropped,
        accuracy(dropped, data.x_test, data.y_test),
    )


