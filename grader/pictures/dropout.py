"""The masks of both hidden layers, and the two accuracies."""

from __future__ import annotations

import numpy as np

from grader.checks import array, fail, record, require, scalar
from grader.pictures import Digits, Picture
from grader.report import charts
from grader.student import Student
from grader.values import key, make
from tests import oracles

EXAMPLES, UNITS, RATE = 24, 10, 0.5
N_TRAIN, N_TEST, EPOCHS = 2000, 500, 3


def draw(student: Student, digits: Digits) -> Picture:
    """Both masks as grids, read off logits that show them, and the accuracies as bars."""
    masks = _masks(student)
    accuracies = _accuracies(student, digits)
    figure = charts.figure(8, 3.2)
    panels = figure.subplot_mosaic([["1", "bars"], ["2", "bars"]], width_ratios=(5, 3))
    for number, mask in enumerate(masks, start=1):
        axes = panels[str(number)]
        axes.pcolormesh(mask, cmap=charts.two_tones(), vmin=0, vmax=1, edgecolors="none")
        axes.set(title=f"layer {number}", ylabel="example", xlabel="unit" if number == 2 else "")
        charts.plain(axes)
    axes = charts.plain(panels["bars"])
    drawn = axes.bar(("plain", "dropout"), accuracies, color=(charts.FIRST, charts.SECOND))
    axes.bar_label(drawn, [f"{a:.1%}" for a in accuracies], color=charts.INK)
    axes.set(ylabel="test accuracy", ylim=(0, 1.1))
    shares = [f"{1 - mask.mean():.0%}" for mask in masks]
    caption = (
        f"At rate {RATE} layer 1 lost {shares[0]} of its values and layer 2 {shares[1]} (the pale"
        f" cells). After {EPOCHS} epochs on {N_TRAIN:,} digits the plain network gets"
        f" {accuracies[0]:.1%} of {N_TEST} unseen ones right, the one with dropout"
        f" {accuracies[1]:.1%}."
    )
    return Picture(charts.svg(figure, "Dropout masks and accuracies", caption), caption)


def _masks(student: Student) -> tuple[np.ndarray, np.ndarray]:
    """What each hidden layer let through, (EXAMPLES, UNITS) each, read off logits that show it."""
    params = oracles.mask_reading_params(4, UNITS, UNITS)
    logits = student.forward_dropout(params, np.ones((EXAMPLES, 4), np.float32), key(0), RATE)
    masks = oracles.read_masks(array(logits, shape=(EXAMPLES, UNITS), what="its logits"), UNITS)
    if masks is None:
        fail("the logits of forward_dropout show no masks of two hidden layers.")
    return masks.keep1, masks.keep2


def _accuracies(student: Student, digits: Digits) -> tuple[float, float]:
    train, test = slice(0, N_TRAIN), slice(N_TRAIN, N_TRAIN + N_TEST)
    data = make("data", digits.x[train], digits.y[train], digits.x[test], digits.y[test])
    result = student.compare_dropout(key(0), data, 0.2, EPOCHS, 128)
    fields = ("plain_params", "plain_accuracy", "dropout_params", "dropout_accuracy")
    found = record(result, "Comparison", fields)
    plain = scalar(found.plain_accuracy, what="plain_accuracy")
    dropout = scalar(found.dropout_accuracy, what="dropout_accuracy")
    require(0 <= min(plain, dropout) <= max(plain, dropout) <= 1, "An accuracy is beyond 0 to 1.")
    return plain, dropout
