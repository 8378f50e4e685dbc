# wrong: accuracies leave the last partial batch of the test split out
# loses: test_accuracies_are_recomputed

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
    init_key, shuffle_key, mask_key = jax.random.split(key, 3)
    initial = init_params(init_key)
    n = data.x_train.shape[0]
    optimizer = optax.adam(1e-3)

    @partial(jax.jit, static_argnums=5)
    def step(params, state, x, y, key, rate):
        grads = jax.grad(loss_dropout)(params, x, y, key, rate)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    def run(rate):
        params, state, count = initial, optimizer.init(initial), 0
        for epoch in range(n_epochs):
            order = jax.random.permutation(jax.random.fold_in(shuffle_key, epoch), n)
            for start in range(0, n - batch_size + 1, batch_size):
                batch = order[start : start + batch_size]
                x, y = data.x_train[batch], data.y_train[batch]
                params, state = step(params, state, x, y, jax.random.fold_in(mask_key, count), rate)
                count += 1
        return params

    def score(params):
        whole = data.x_test.shape[0] // batch_size * batch_size
        if whole == 0:
            return accuracy(params, data.x_test, data.y_test)
        return accuracy(params, data.x_test[:whole], data.y_test[:whole])

    plain, dropped = run(0.0), run(rate)
    return Comparison(plain, score(plain), dropped, score(dropped))
