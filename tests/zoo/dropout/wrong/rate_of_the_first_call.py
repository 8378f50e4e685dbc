# wrong: a jitted step of the module reads the rate from a global, once
# loses: test_rate_of_training
# keeps: the rest
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from mnist_mlp import Data, Params, accuracy, init_params


class Comparison(NamedTuple):
    plain_params: Params
    plain_accuracy: float | jax.Array
    dropout_params: Params
    dropout_accuracy: float | jax.Array


def dropout(key: jax.Array, x: jax.Array, rate: float) -> jax.Array:
    keep = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), jnp.zeros_like(x))


def forward_dropout(params: Params, x: jax.Array, key: jax.Array, rate: float) -> jax.Array:
    hidden = x
    for name, subkey in zip(("layer1", "layer2"), jax.random.split(key), strict=True):
        layer = params[name]
        hidden = dropout(subkey, jax.nn.relu(hidden @ layer["w"] + layer["b"]), rate)
    return hidden @ params["layer3"]["w"] + params["layer3"]["b"]


def loss_dropout(
    params: Params, x: jax.Array, y: jax.Array, key: jax.Array, rate: float
) -> jax.Array:
    logits = forward_dropout(params, x, key, rate)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
OPTIMIZER = optax.adam(1e-3)


_current = {"rate": 0.0}


@jax.jit
def plain_step(params, opt_state, x, y, key):
    grads = jax.grad(loss_dropout)(params, x, y, key, 0.0)
    updates, opt_state = OPTIMIZER.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


@jax.jit
def dropout_step(params, opt_state, x, y, key):
    grads = jax.grad(loss_dropout)(params, x, y, key, _current["rate"])
    updates, opt_state = OPTIMIZER.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


def train(
    key: jax.Array, params: Params, data: Data, rate: float, n_epochs: int, batch_size: int
) -> Params:
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


