# right: integer lottery mask, logsumexp by hand, ahead-of-time compiled steps, star-args for options
import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from mnist_mlp import Params, accuracy, init_params


class Comparison(NamedTuple):
    plain_params: Params
    plain_accuracy: float | jax.Array
    dropout_params: Params
    dropout_accuracy: float | jax.Array


@dataclasses.dataclass(frozen=True)
class Options:
    rate: float = 0.2
    n_epochs: int = 10
    batch_size: int = 128


TICKETS = 2**24


def dropout(key, x, rate):
    match rate:
        case 0:  # also 0.0
            return jnp.asarray(x)
        case _:
            x = jnp.asarray(x)
            blanks = round(rate * TICKETS)
            ticket = jax.random.randint(key, x.shape, 0, TICKETS)
            kept = (ticket >= blanks).astype(x.dtype)
            return kept * (x / (1.0 - rate))


def forward_dropout(params, x, key, rate):
    match params:
        case {
            "layer1": {"w": w1, "b": b1},
            "layer2": {"w": w2, "b": b2},
            "layer3": {"w": w3, "b": b3},
        }:
            key, sub = jax.random.split(key)
            h = jax.nn.relu(dropout(sub, jnp.matmul(x, w1) + b1, rate))
            key, sub = jax.random.split(key)
            h = jax.nn.relu(dropout(sub, jnp.matmul(h, w2) + b2, rate))
            return jnp.matmul(h, w3) + b3
        case _:
            raise TypeError("three layers, please")


def loss_dropout(params, x, y, key, rate):
    logits = forward_dropout(params, x, key, rate)
    right = jnp.take_along_axis(logits, jnp.asarray(y)[..., None], axis=-1)[..., 0]
    return (jax.nn.logsumexp(logits, axis=-1) - right).mean()


def compare_dropout(key, data, *positional, **named):
    options = Options(*positional, **named)
    init_key, order_key, noise_key = (jax.random.fold_in(key, salt) for salt in (11, 22, 33))
    start = init_params(init_key)
    optimizer = optax.adam(1e-3)
    n_train, size = len(data.x_train), options.batch_size

    def compiled_step(rate):
        def step(params, opt_state, x, y, number):
            step_key = jax.random.fold_in(noise_key, number)
            grads = jax.grad(loss_dropout)(params, x, y, step_key, rate)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return optax.apply_updates(params, updates), opt_state

        example = (start, optimizer.init(start), data.x_train[:size], data.y_train[:size])
        return jax.jit(step).lower(*example, np.int32(0)).compile()

    def run(rate):
        params, opt_state = start, optimizer.init(start)
        if options.n_epochs:
            step, number = compiled_step(rate), 0
            for epoch in range(options.n_epochs):
                order = jax.random.permutation(jax.random.fold_in(order_key, epoch), n_train)
                rows = iter(np.asarray(order))
                # zip over one iterator `size` times: whole batches only
                for batch in zip(*[rows] * size):
                    batch = np.asarray(batch)
                    params, opt_state = step(
                        params,
                        opt_state,
                        data.x_train[batch],
                        data.y_train[batch],
                        np.int32(number),
                    )
                    number += 1
        return params

    runs = [run(0.0), run(options.rate)]
    scores = [accuracy(params, data.x_test, data.y_test).item() for params in runs]
    return Comparison(runs[0], scores[0], runs[1], scores[1])
