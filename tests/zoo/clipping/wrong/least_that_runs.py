# wrong: the least that runs
# loses: test_long_gradients_are_scaled_as_a_whole, test_the_arguments_are_used, test_any_pytree_inside_jit_and_outside, test_losses_are_before_the_update, test_norms_are_of_the_raw_gradient, test_the_given_optimizer_trains_the_given_params, test_the_key_decides_the_batches, test_batches_are_whole_and_from_the_training_split, test_every_epoch_has_a_new_order, test_every_example_takes_part, test_loss_and_norm_are_of_one_batch, test_any_optimizer_works, test_both_series_are_drawn, test_a_line_lies_at_the_clip_norm, test_the_axes_are_labelled, test_a_legend_tells_the_series_apart, test_series_of_any_lengths, test_the_line_follows_clip_norm, test_labels_are_on_the_right_things
from typing import NamedTuple

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax
from matplotlib.figure import Figure
from mnist_mlp import init_params, loss_fn


class Run(NamedTuple):
    params: dict
    losses: jax.Array
    grad_norms: jax.Array


def make_optimizer(clip_norm=1.0, learning_rate=1e-3):
    return optax.adam(learning_rate)


def train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128):
    return Run(params, jnp.zeros(n_steps), jnp.zeros(n_steps))


def plot_grad_norms(unclipped, clipped, clip_norm=1.0):
    return Figure()
