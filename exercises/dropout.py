"""Exercise 1: Dropout with threaded PRNG keys.

Add dropout to the MLP of the lesson: thread a key through the forward pass, split it for every
dropout layer, then compare the test accuracy with and without dropout.

Why it matters in JAX. Other frameworks draw a dropout mask from a generator hidden somewhere in
the library. A JAX function has no hidden state: its randomness comes in as an argument, the key,
and the same key always draws the same numbers. That is what lets ``jit``, ``grad`` and ``vmap``
transform a random function like any other. It also makes one mistake easy: a key used twice gives
the same "random" numbers twice. Here that would mean one mask for two layers, or one mask for a
whole training run.

What to write. ``params``, ``x`` and ``y`` are as in ``mnist_mlp.py``. A ``key`` may be a raw one
(``jax.random.PRNGKey``) or a typed one (``jax.random.key``), in every function. Results are arrays
(JAX or NumPy). No function changes, deletes or donates what its caller gave it.

1. ``dropout(key, x, rate)``: inverted dropout.
   - Each element of ``x`` is zeroed with probability ``rate``, independently of every other element
     and of the values in ``x``; a survivor becomes ``x / (1 - rate)``.
   - ``x`` is a finite array of any shape; the result has its shape and its dtype (float32 and
     bfloat16 alike).
   - ``rate`` is an ordinary Python float, never traced, with ``0 <= rate < 1``. At ``rate == 0``
     the result is ``x``.
   - It is pure: the same key gives the same mask, another key another mask.
   - It works under ``jax.jit`` (with ``rate`` static), ``jax.grad`` and ``jax.vmap``.
2. ``forward_dropout(params, x, key, rate)``: ``mnist_mlp.forward`` with dropout.
   - Three layers named as in the lesson, of any widths; ``x`` is one example or a batch.
   - Dropout comes after each hidden ReLU (just before it is the same thing), never on the input and
     never on the logits.
   - Each of the two dropout layers gets a subkey of its own, so that their masks are independent.
   - ``rate=0.0`` gives what ``forward`` gives.
3. ``loss_dropout(params, x, y, key, rate)``: the mean softmax cross-entropy of
   ``forward_dropout(params, x, key, rate)``, with exactly this key; a scalar. ``x`` and ``y`` are
   one example or a batch. It can be differentiated with respect to ``params``.
4. ``compare_dropout(key, data, rate=0.2, n_epochs=10, batch_size=128)``: trains the MLP twice on
   the training split, each time with ``optax.adam(1e-3)``, once without dropout and once with it.
   - Nothing else differs: the same initial parameters, the same batches in the same order, each run
     with an optimizer state of its own that starts fresh.
   - The training split is shuffled anew each epoch. If ``batch_size`` does not divide it, what
     becomes of the last, smaller batch is up to you. ``batch_size`` is never larger than the split.
   - Every training step gets a new dropout key.
   - The same ``key`` gives the same result.
   - The result is a ``Comparison``. Its accuracies (floats or scalar arrays) are those of the
     returned parameters on the test split, without dropout.
   - So ``rate=0.0`` gives two equal runs, and ``n_epochs=0`` gives the initial parameters twice.

Tolerances. Values are compared to about five digits in float32 and two in bfloat16. Random
behaviour is judged by its statistics alone: which function of ``jax.random`` you use, and how you
split your keys, is up to you.

Run ``python dropout.py`` for the experiment (a minute or so), ``make grade X=dropout`` for the
verdict, and ``python -m grader hint dropout`` when you are stuck.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from mnist_mlp import Data, Params, accuracy, init_params, load_mnist


class Comparison(NamedTuple):
    """Two trainings that differ in nothing but dropout.

    The accuracies lie in [0, 1] and are measured on the test split, without dropout.
    """

    plain_params: Params
    plain_accuracy: float | jax.Array
    dropout_params: Params
    dropout_accuracy: float | jax.Array


def dropout(key: jax.Array, x: jax.Array, rate: float) -> jax.Array:
    """Zero each element of `x` with probability `rate` and scale the others up.

    Args:
        key: a PRNG key, raw or typed.
        x: a finite array of any shape.
        rate: the probability of being zeroed, 0 <= rate < 1; a Python float, never traced.

    Returns:
        An array of the shape and dtype of `x`; survivors are `x / (1 - rate)`.
    """
    raise NotImplementedError("dropout is not written yet")


def forward_dropout(params: Params, x: jax.Array, key: jax.Array, rate: float) -> jax.Array:
    """The forward pass of the lesson with dropout on its two hidden layers.

    Args:
        params: `{'layer1': {'w', 'b'}, 'layer2': ..., 'layer3': ...}`, any widths.
        x: one example `(features,)` or a batch `(batch, features)`.
        key: a PRNG key, split here for the two dropout layers.
        rate: the dropout rate, 0 <= rate < 1; a Python float.

    Returns:
        Logits, `(classes,)` or `(batch, classes)`.
    """
    raise NotImplementedError("forward_dropout is not written yet")


def loss_dropout(
    params: Params, x: jax.Array, y: jax.Array, key: jax.Array, rate: float
) -> jax.Array:
    """Mean softmax cross-entropy of `forward_dropout(params, x, key, rate)`.

    Args:
        params: as in `forward_dropout`.
        x: one example `(features,)` or a batch `(batch, features)`.
        y: integer labels, `()` or `(batch,)`.
        key: a PRNG key, handed on to `forward_dropout` as it is.
        rate: the dropout rate, 0 <= rate < 1; a Python float.

    Returns:
        A scalar.
    """
    raise NotImplementedError("loss_dropout is not written yet")


def compare_dropout(
    key: jax.Array, data: Data, rate: float = 0.2, n_epochs: int = 10, batch_size: int = 128
) -> Comparison:
    """Train the MLP without and with dropout, everything else being equal.

    Args:
        key: a PRNG key; the whole experiment follows from it.
        data: the images and labels, see `mnist_mlp.Data`.
        rate: the dropout rate of the second run, 0 <= rate < 1; a Python float.
        n_epochs: how often each run goes through the training split.
        batch_size: how many examples a step sees, at most the training split's size.

    Returns:
        The parameters of both runs and their accuracies on the test split.
    """
    raise NotImplementedError("compare_dropout is not written yet")


if __name__ == "__main__":
    digits = load_mnist()
    print("Accuracy after 10 epochs\n\n  rate     train      test")
    for dropout_rate in (0.1, 0.2, 0.5):
        result = compare_dropout(jax.random.key(0), digits, dropout_rate)
        rows = [(dropout_rate, result.dropout_params, result.dropout_accuracy)]
        if dropout_rate == 0.1:  # the plain run is the same each time
            rows.insert(0, (0.0, result.plain_params, result.plain_accuracy))
        for row_rate, params, test_accuracy in rows:
            train_accuracy = accuracy(params, digits.x_train, digits.y_train)
            print(f"{row_rate:6.1f} {train_accuracy:9.2%} {test_accuracy:9.2%}")
