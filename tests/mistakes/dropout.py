"""Known misconceptions of the exercise dropout, and what they lead to, in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.checks import Mistake
from tests import oracles

KNOWN: dict[str, str] = {
    "no-dropout": "Is the mask put to use, and does the rate arrive?",
    "equal-runs": (
        "Both runs end at exactly the same parameters. Which of the two has dropout, and does the"
        " rate arrive there?"
    ),
    "rate-is-keep-probability": (
        "`rate` seems to be taken for the probability of surviving. It is that of being zeroed."
    ),
    "shared-along-rows": (
        "Elements next to each other in a row share their fate. How many random numbers are drawn,"
        " and how many elements are there?"
    ),
    "shared-between-rows": (
        "All rows have the same zeros. How many random numbers are drawn, and how many elements"
        " are there?"
    ),
    "key-ignored": (
        "Two keys gave the same mask. A key made inside the function, or kept from an earlier"
        " call, makes every call draw the same numbers."
    ),
    "hidden-state": (
        "The same key gave two different masks. A generator of NumPy's, a counter or a global key"
        " is state that JAX does not see."
    ),
    "depends-on-values": (
        "The same key zeroed other elements of another x. Nothing in x may decide what is zeroed."
    ),
    "fixed-number": (
        "For one rate it is always the same number of elements that is zeroed. Each one has a"
        " chance of its own, so the number varies from key to key."
    ),
    "same-key-two-layers": (
        "Both hidden layers drop the same units. What does a key give that is used twice?"
    ),
    "one-layer-only": "Only one of the two hidden layers has dropout.",
    "dropout-on-input": (
        "The input itself loses pixels. Dropout belongs to the hidden layers, behind their ReLU."
    ),
    "dropout-on-logits": (
        "The logits lose values. They are what is predicted: nothing behind the last layer drops."
    ),
    "same-mask-every-step": (
        "Different training steps dropped exactly the same units. A key passed to each step as it"
        " is draws the same mask each time: every step needs one of its own."
    ),
    "same-mask-in-batch": (
        "Images of one batch were trained with exactly the same mask. Each needs its own."
    ),
    "same-masks-every-epoch": (
        "Masks come back epoch after epoch. If step keys are made from the number of the step in"
        " its epoch alone, the next epoch starts over with the first one's."
    ),
    "different-start": (
        "The two runs start from different parameters. Then their accuracies differ for a reason"
        " that is not dropout."
    ),
    "evaluated-with-dropout": (
        "The accuracy looks as if dropout was still on. Dropout is for training alone."
    ),
    "evaluated-on-training-split": (
        "The accuracy is that on the training split. It should say how well unseen images go."
    ),
    "accuracies-swapped": "The two accuracies are swapped.",
    "same-order-every-epoch": (
        "The batches come in the same order in every epoch. When is the order drawn?"
    ),
    "not-shuffled": (
        "Images that are neighbours in the data stay together in a batch. Where is the training"
        " split shuffled?"
    ),
}
"""Misconceptions that are told by what they do rather than by one value."""


def of_unread_masks(logits: np.ndarray, rate: float) -> str | None:
    """How units are dropped where `oracles.read_masks` finds no two masks; None if nothing fits.

    Args:
      logits: of `oracles.mask_reading_params` with ten units a layer, shape `(batch, 10)`.

    Returns:
      A key of `KNOWN`.
    """
    scale = 1 / (1 - rate)
    values = np.asarray(logits, np.float64)
    kept = values != 0
    if (values == values[0]).all() and not kept.all():  # nothing else tells examples apart
        return "shared-between-rows"
    for outer, inner in ((1.0, scale), (scale, 1.0)):  # the first layer drops, the second does
        ones = values[kept[:, 0], 0]
        codes = (values[:, 1:] / outer - 1) / inner
        rows = np.where(kept[:, 1:], codes, -1).max(axis=1, keepdims=True)
        alike = abs(np.where(kept[:, 1:], codes - np.rint(rows), 0)).max() < 0.1
        possible = kept.all() == (outer == 1.0)
        if possible and alike and np.allclose(ones, outer, rtol=1e-4):
            return "one-layer-only"
    return None


def of_survivors(x: np.ndarray, keep: np.ndarray, rate: float) -> tuple[Mistake, ...]:
    """Misconceptions of `dropout`'s scaling, for the mask `keep` that was drawn."""
    kept = np.where(keep, x, 0).astype(np.float64)
    return (
        Mistake(
            "not-scaled",
            "survivors come back as they were. What is the mean of the result then, and what"
            " should it be?",
            kept,
        ),
        Mistake(
            "scaled-by-keep-probability",
            "survivors are multiplied by 1 - rate. That belongs to the other kind of dropout, which"
            " scales at test time; the inverted kind makes up for what is lost.",
            kept * (1 - rate),
        ),
        Mistake(
            "divided-by-rate",
            "survivors are divided by rate. What share of the elements is left?",
            kept / rate,
        ),
        Mistake(
            "multiplied-by-rate",
            "survivors are multiplied by rate. What share of the elements is left?",
            kept * rate,
        ),
        Mistake(
            "one-plus-rate",
            "survivors are multiplied by 1 + rate. That comes near the right factor, for small"
            " rates alone.",
            kept * (1 + rate),
        ),
        Mistake(
            "scaled-twice",
            "survivors are scaled twice over.",
            kept / (1 - rate) ** 2,
        ),
        Mistake(
            "scaled-by-root",
            "survivors are scaled so that the variance stays as it was. What has to stay is the"
            " mean.",
            kept / np.sqrt(1 - rate),
        ),
        Mistake(
            "scaled-by-count",
            "survivors are scaled by the share that happened to survive. The factor follows from"
            " rate alone.",
            kept / max(float(keep.mean()), 1e-12),
        ),
    )


def of_gradient(x: np.ndarray, out: np.ndarray, cotangent: np.ndarray) -> tuple[Mistake, ...]:
    """Misconceptions of the gradient of `dropout`, whose result was `out`."""
    return (
        Mistake("no-gradient", "nothing flows back: it is zero everywhere.", np.zeros_like(x)),
        Mistake(
            "straight-through",
            "it passes through zeroed elements too, as if nothing had been dropped.",
            cotangent,
        ),
        Mistake(
            "unscaled-gradient",
            "it passes through survivors, but without the factor that they were scaled by.",
            np.where(out != 0, cotangent, 0),
        ),
    )


def of_loss(logits: np.ndarray, y: np.ndarray, plain_logits: np.ndarray) -> tuple[Mistake, ...]:
    """Misconceptions of `loss_dropout`, for the logits of `forward_dropout` and those without."""
    each = oracles.cross_entropy(logits, y)
    picked = np.take_along_axis(logits, y[:, None], axis=1)
    one_hot = np.eye(logits.shape[1])[y]
    return (
        Mistake("sum-not-mean", "it is the sum over the batch, not the mean.", each.sum()),
        Mistake(
            "mean-over-classes",
            "it is divided by the number of classes too.",
            each.mean() / logits.shape[1],
        ),
        Mistake("wrong-sign", "its sign is the wrong way round.", -each.mean()),
        Mistake(
            "no-softmax", "there is no softmax in it, only the labels' logits.", -picked.mean()
        ),
        Mistake(
            "squared-error",
            "it is a squared error, not a cross-entropy.",
            ((np.exp(oracles.log_softmax(logits)) - one_hot) ** 2).mean(),
        ),
        Mistake(
            "loss-without-dropout",
            "it is the loss of the network without dropout.",
            oracles.cross_entropy(plain_logits, y).mean(),
        ),
    )


def of_forward(
    params: Mapping[str, Any], x: np.ndarray, masks: oracles.Masks, rate: float
) -> tuple[Mistake, ...]:
    """Misconceptions of `forward_dropout` that its masks do not show."""
    keep = (masks.keep1.astype(np.float64), masks.keep2.astype(np.float64))
    right = tuple(mask / (1 - rate) for mask in keep)
    swapped = {
        "layer1": params["layer1"],
        "layer2": params["layer2"],
        "layer3": {"w": params["layer3"]["w"], "b": np.zeros_like(params["layer3"]["b"])},
    }
    return (
        Mistake(
            "not-scaled",
            "survivors of the hidden layers are not scaled.",
            oracles.forward(params, x, keep),
        ),
        Mistake(
            "no-last-bias", "the last layer's bias is missing.", oracles.forward(swapped, x, right)
        ),
        Mistake(
            "relu-on-logits",
            "a ReLU follows the last layer too. Logits are free to be negative.",
            np.maximum(oracles.forward(params, x, right), 0),
        ),
    )
