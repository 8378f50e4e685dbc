# right: epochs and steps are scans

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
    init_key, train_key = jax.random.split(key)
    initial, optimizer = init_params(init_key), optax.adam(1e-3)
    n = data.x_train.shape[0]
    steps = n // batch_size

    @partial(jax.jit, static_argnums=0)
    def train(rate, initial):
        def step(carry, inputs):
            params, state = carry
            batch, k = inputs
            grads = jax.grad(loss_dropout)(params, data.x_train[batch], data.y_train[batch], k, rate)
            updates, state = optimizer.update(grads, state)
            return (optax.apply_updates(params, updates), state), None

        def epoch(carry, k):
            order_key, mask_key = jax.random.split(k)
            order = jax.random.permutation(order_key, n)[: steps * batch_size]
            batches = order.reshape(steps, batch_size)
            return jax.lax.scan(step, carry, (batches, jax.random.split(mask_key, steps)))

        carry = initial, optimizer.init(initial)
        (params, _), _ = jax.lax.scan(epoch, carry, jax.random.split(train_key, n_epochs))
        return params

    plain, dropped = train(0.0, initial), train(rate, initial)
    test = data.x_test, data.y_test
    return Comparison(plain, accuracy(plain, *test), dropped, accuracy(dropped, *test))
