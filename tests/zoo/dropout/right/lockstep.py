# right: both runs step side by side in one loop, one jitted step for both

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
    key, init_key = jax.random.split(key)
    optimizer = optax.adam(learning_rate=0.001)
    params = init_params(init_key)
    plain, dropped = (params, optimizer.init(params)), (params, optimizer.init(params))

    def update(loss, carry, *batch):
        params, state = carry
        updates, state = optimizer.update(jax.grad(loss)(params, *batch), state, params)
        return optax.apply_updates(params, updates), state

    @jax.jit
    def both(plain, dropped, x, y, k):
        with_dropout = partial(loss_dropout, key=k, rate=rate)
        return update(loss_fn, plain, x, y), update(with_dropout, dropped, x, y)

    for _ in range(n_epochs):
        key, sub = jax.random.split(key)
        order = jax.random.permutation(sub, len(data.x_train))
        for i in range(0, len(order), batch_size):
            key, sub = jax.random.split(key)
            chosen = order[i : i + batch_size]
            plain, dropped = both(plain, dropped, data.x_train[chosen], data.y_train[chosen], sub)
    plain, dropped = plain[0], dropped[0]
    return Comparison(
        plain_params=plain,
        plain_accuracy=accuracy(plain, data.x_test, data.y_test),
        dropout_params=dropped,
        dropout_accuracy=accuracy(dropped, data.x_test, data.y_test),
    )
