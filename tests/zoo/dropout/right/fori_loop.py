# right: an epoch is a fori_loop over a permuted copy

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
    k_init, k_order, k_mask = jax.random.split(key, 3)
    optimizer, start, n = optax.adam(1e-3), init_params(k_init), data.x_train.shape[0]

    def fit(rate):
        @jax.jit
        def epoch(number, params, state):
            order = jax.random.permutation(jax.random.fold_in(k_order, number), n)
            x, y = data.x_train[order], data.y_train[order]

            def body(i, carry):
                params, state = carry
                k = jax.random.fold_in(jax.random.fold_in(k_mask, number), i)
                batch_x = jax.lax.dynamic_slice_in_dim(x, i * batch_size, batch_size)
                batch_y = jax.lax.dynamic_slice_in_dim(y, i * batch_size, batch_size)
                grads = jax.grad(loss_dropout)(params, batch_x, batch_y, k, rate)
                updates, state = optimizer.update(grads, state)
                return optax.apply_updates(params, updates), state

            return jax.lax.fori_loop(0, n // batch_size, body, (params, state))

        params, state = start, optimizer.init(start)
        for number in range(n_epochs):
            params, state = epoch(number, params, state)
        return params

    plain, dropped = fit(0.0), fit(rate)
    x, y = data.x_test, data.y_test
    return Comparison(plain, accuracy(plain, x, y), dropped, accuracy(dropped, x, y))
