# right: the plain run is mnist_mlp.train, whose order the other run repeats

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from mnist_mlp import accuracy, init_params, train


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
    init_key, train_key, mask_key = jax.random.split(key, 3)
    initial, optimizer = init_params(init_key), optax.adam(1e-3)
    plain, _ = train(train_key, data, optimizer, n_epochs, batch_size, initial)

    @jax.jit
    def step(params, state, x, y, k):
        grads = jax.grad(loss_dropout)(params, x, y, k, rate)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    params, state = initial, optimizer.init(initial)
    _, shuffle_key = jax.random.split(train_key)
    n = len(data.x_train)
    for epoch in range(1, n_epochs + 1):
        order = jax.random.permutation(jax.random.fold_in(shuffle_key, epoch), n)
        for start in range(0, n - batch_size + 1, batch_size):
            mask_key, k = jax.random.split(mask_key)
            batch = order[start : start + batch_size]
            params, state = step(params, state, data.x_train[batch], data.y_train[batch], k)
    x, y = data.x_test, data.y_test
    return Comparison(plain, accuracy(plain, x, y), params, accuracy(params, x, y))
