# right: a class holds the training; extra default arguments

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
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


class Trainer:
    def __init__(self, params, rate, optimizer):
        self.params, self.rate, self.optimizer = params, rate, optimizer
        self.state = optimizer.init(params)
        self.update = jax.jit(self._update)

    def _update(self, params, state, x, y, key):
        grads = jax.grad(loss_dropout)(params, x, y, key, self.rate)
        updates, state = self.optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    def fit(self, batches):
        for x, y, key in batches:
            self.params, self.state = self.update(self.params, self.state, x, y, key)
        return self.params


def batches(key, data, n_epochs, batch_size):
    """All (x, y, key) of a training; a generator."""
    n = data.x_train.shape[0] // batch_size * batch_size
    for _ in range(n_epochs):
        key, order_key, mask_key = jax.random.split(key, 3)
        order = np.asarray(jax.random.permutation(order_key, data.x_train.shape[0]))[:n]
        for step, batch in enumerate(np.split(order, n // batch_size)):
            yield data.x_train[batch], data.y_train[batch], jax.random.fold_in(mask_key, step)


def compare_dropout(
    key, data, rate=0.2, n_epochs=10, batch_size=128, *, learning_rate=1e-3, verbose=False
):
    start = init_params(jax.random.fold_in(key, 99))
    found = []
    for r in (0.0, rate):
        trainer = Trainer(start, r, optax.adam(learning_rate))
        params = trainer.fit(batches(jax.random.fold_in(key, 7), data, n_epochs, batch_size))
        found += [params, accuracy(params, data.x_test, data.y_test).item()]
        if verbose:
            print(r, found[-1])
    return Comparison(*found)
