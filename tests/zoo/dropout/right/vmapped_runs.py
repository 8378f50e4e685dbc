# right: both runs are one, under vmap over the rate

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
    init_key, key = jax.random.split(key)
    optimizer = optax.adam(1e-3)

    def loss(params, x, y, k, rate):
        logits = forward_dropout(params, x, k, rate)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    def step(params, state, x, y, k, rate):
        updates, state = optimizer.update(jax.grad(loss)(params, x, y, k, rate), state)
        return optax.apply_updates(params, updates), state

    both = jax.jit(jax.vmap(step, in_axes=(0, 0, None, None, None, 0)))
    params = jax.tree.map(lambda p: jnp.stack([p, p]), init_params(init_key))
    state, rates = jax.vmap(optimizer.init)(params), jnp.array([0.0, rate])
    n = data.x_train.shape[0]
    for _ in range(n_epochs):
        key, order_key = jax.random.split(key)
        order = jax.random.permutation(order_key, n)
        for start in range(0, n - batch_size + 1, batch_size):
            key, k = jax.random.split(key)
            batch = order[start : start + batch_size]
            x, y = data.x_train[batch], data.y_train[batch]
            params, state = both(params, state, x, y, k, rates)
    results = []
    for run in range(2):
        chosen = jax.tree.map(lambda p: p[run], params)
        results += [chosen, accuracy(chosen, data.x_test, data.y_test)]
    return Comparison(*results)
