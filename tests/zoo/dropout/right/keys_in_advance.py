# right: as many keys as epochs and steps, the initial one last

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from mnist_mlp import accuracy, init_params, loss_fn


class Comparison(NamedTuple):
    plain_params: dict
    plain_accuracy: float
    dropout_params: dict
    dropout_accuracy: float


def dropout(key, x, rate):
    keep = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), 0)


def forward_dropout(params, x, key, rate):
    key1, key2 = jax.random.split(key)
    h = jax.nn.relu(x @ params["layer1"]["w"] + params["layer1"]["b"])
    h = dropout(key1, h, rate)
    h = jax.nn.relu(h @ params["layer2"]["w"] + params["layer2"]["b"])
    h = dropout(key2, h, rate)
    return h @ params["layer3"]["w"] + params["layer3"]["b"]


def loss_dropout(params, x, y, key, rate):
    logits = forward_dropout(params, x, key, rate)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def compare_dropout(key, data, rate=0.2, n_epochs=10, batch_size=128):
    *epoch_keys, init_key = jax.random.split(key, n_epochs + 1)
    initial, optimizer = init_params(init_key), optax.adam(1e-3)
    n_steps = data.x_train.shape[0] // batch_size

    def train(loss):
        @jax.jit
        def step(params, state, batch, k):
            grads = jax.grad(loss)(params, data.x_train[batch], data.y_train[batch], k)
            updates, state = optimizer.update(grads, state)
            return optax.apply_updates(params, updates), state

        params, state = initial, optimizer.init(initial)
        for epoch_key in epoch_keys:
            order_key, *step_keys = jax.random.split(epoch_key, n_steps + 1)
            order = jax.random.permutation(order_key, data.x_train.shape[0])
            for batch, k in zip(order[: n_steps * batch_size].reshape(n_steps, batch_size), step_keys):
                params, state = step(params, state, batch, k)
        return params, accuracy(params, data.x_test, data.y_test)

    plain = train(lambda params, x, y, k: loss_fn(params, x, y))
    dropped = train(lambda params, x, y, k: loss_dropout(params, x, y, k, rate))
    return Comparison(*plain, *dropped)
