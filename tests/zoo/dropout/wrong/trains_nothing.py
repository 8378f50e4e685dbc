# wrong: both runs end where they start
# loses: test_rate_zero_gives_equal_runs, test_plain_run_is_adam, test_accuracies_are_recomputed, test_masks_of_training_steps, test_rate_of_training, test_dropout_run_is_adam, test_same_batches, test_shuffled_each_epoch, test_masks_of_epochs, test_comparison_follows_from_the_key
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
    initial = init_params(key)
    right = accuracy(initial, data.x_test, data.y_test)
    return Comparison(initial, right, initial, right)
