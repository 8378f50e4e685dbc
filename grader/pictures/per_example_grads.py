"""Thirty-two digits, those with the largest gradients first."""

from __future__ import annotations

import numpy as np

from grader.checks import array, require
from grader.pictures import Digits, Picture
from grader.report import charts
from grader.student import Student
from grader.values import make

COUNT, COLUMNS = 32, 8


def draw(student: Student, digits: Digits) -> Picture:
    """The images with their norms and labels, in the order that the student's function gives."""
    x, y = digits.x[:COUNT], digits.y[:COUNT]
    params = make("trained", digits.x[COUNT:1500], digits.y[COUNT:1500])
    result = student.largest_gradients(params, x, y, COUNT)
    require(isinstance(result, tuple) and len(result) == 2, "largest_gradients gave no two arrays.")
    indices = array(result[0], shape=(COUNT,), what="the indices")
    norms = array(result[1], shape=(COUNT,), what="the norms").astype(np.float64)
    require(sorted(indices.tolist()) == list(range(COUNT)), "The indices are not all different.")
    figure = charts.figure(8, 5.2)
    for axes, index, norm in zip(figure.subplots(4, COLUMNS).flat, indices, norms, strict=True):
        axes.imshow(x[index].reshape(28, 28), cmap="gray", interpolation="nearest")
        axes.set_axis_off()
        axes.set_title(f"{y[index]}: {norm:.2g}", color=charts.INK, fontsize=9)
    caption = (
        f"{COUNT} digits as label and gradient norm, the largest first: from {norms[0]:.3g} (a"
        f" {y[indices[0]]}) down to {norms[-1]:.3g} (a {y[indices[-1]]})."
    )
    return Picture(charts.svg(figure, "Digits sorted by gradient norm", caption), caption)
