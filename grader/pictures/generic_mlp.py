"""What another layer costs: the time of a forward pass at growing depth."""

from __future__ import annotations

import numpy as np

from grader.checks import array
from grader.pictures import Digits, Picture
from grader.report import charts
from grader.student import Student
from grader.values import jit, key

DEPTHS, WIDTH, ROUNDS = (1, 2, 4, 8, 12), 128, 3


def draw(student: Student, digits: Digits) -> Picture:
    """Seconds of `mlp_forward` on 256 digits, eager and jitted, over the number of layers."""
    x = digits.x[:256]
    eager: list[float] = []
    jitted: list[float] = []
    for depth in DEPTHS:
        params = student.keep.init_mlp(key(depth), (784, *[WIDTH] * (depth - 1), 10))
        for function, times in ((student, eager), (student.under(jit()), jitted)):
            seconds = []
            for _ in range(ROUNDS + 1):  # the first one compiles
                array(function.mlp_forward(params, x), shape=(256, 10), what="mlp_forward")
                seconds.append(1e3 * student.seconds)
            times.append(float(np.median(seconds[1:])))
    figure = charts.figure()
    axes = charts.plain(figure.subplots())
    axes.plot(DEPTHS, eager, "o-", color=charts.FIRST, label="eager")
    axes.plot(DEPTHS, jitted, "s--", color=charts.SECOND, label="jit")
    axes.set(xlabel="layers", ylabel="time of a forward pass (ms)", ylim=(0, None))
    axes.legend(labelcolor=charts.INK, frameon=False)
    caption = (
        f"A forward pass of 256 digits takes {eager[0]:.1f} ms with one layer and"
        f" {eager[-1]:.1f} ms with {DEPTHS[-1]} when eager, {jitted[0]:.1f} and"
        f" {jitted[-1]:.1f} ms under jit."
    )
    return Picture(charts.svg(figure, "Depth against time", caption), caption)
