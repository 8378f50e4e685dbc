# wrong: two orders take turns from epoch to epoch
# loses: test_shuffled_each_epoch
# keeps: the rest
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from mnist_mlp import accuracy, init_params


class Comparison(NamedTuple):
    plain_params: dict
    plain_accuracy: float
    dropout_params: dict
    dropout_accuracy: float


def dropout(key, x, rate):
    keep = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), jnp.zeros_like(x))


def forward_dropout(params, x, key, rate):
    key1, key2 = jax.random.split(key)
    h = dropout(key1, jax.nn.relu(x @ params["layer1"]["w"] + params["layer1"]["b"]), rate)
    h = dropout(key2, jax.nn.relu(h @ params["layer2"]["w"] + params["layer2"]["b"]), rate)
    return h @ params["layer3"]["w"] + params["layer3"]["b"]


def loss_dropout(params, x, y, key, rate):
    logits = forward_dropout(params, x, key, rate)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


OPTIMIZER = optax.adam(1e-3)


@partial(jax.jit, static_argnames="rate")
def train_step(params, opt_state, x, y, key, rate):
    grads = jax.grad(loss_dropout)(params, x, y, key, rate)
    updates, opt_state = OPTIMIZER.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


def train(key, params, data, rate, n_epochs, batch_size):
    n = len(data.x_train)
    opt_state = OPTIMIZER.init(params)
    for epoch in range(n_epochs):
        shuffle_key, dropout_key = jax.random.split(jax.random.fold_in(key, epoch))
        order = jax.random.permutation(jax.random.fold_in(key, 2**20 + epoch % 2), n)
        for step in range(n // batch_size):
            batch = order[step * batch_size : (step + 1) * batch_size]
            step_key = jax.random.fold_in(dropout_key, step)
            params, opt_state = train_step(
                params, opt_state, data.x_train[batch], data.y_train[batch], step_key, rate
            )
    return params


def compare_dropout(key, data, rate=0.2, n_epochs=10, batch_size=128):
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
