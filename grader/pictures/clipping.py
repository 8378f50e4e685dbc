"""Gradient norms over training, with and without clipping."""

from __future__ import annotations

import numpy as np

from grader.checks import array, record
from grader.pictures import Digits, Picture
from grader.report import charts
from grader.student import Student
from grader.values import key, make

STEPS, BOUND = 150, 1.0


def draw(student: Student, digits: Digits) -> Picture:
    """Raw norms of two runs from the same parameters, and the bound."""
    half = len(digits.x) // 2
    data = make("data", digits.x[:half], digits.y[:half], digits.x[half:], digits.y[half:])
    params = student.keep_run("made", make("initial", key(0)))
    norms = []
    for clip_norm in (None, BOUND):
        optimizer = student.keep.make_optimizer(clip_norm)
        run = student.train_with_norms(key(1), params, optimizer, data, STEPS, 128)
        found = record(run, "Run", ("params", "losses", "grad_norms"))
        raw = array(found.grad_norms, shape=(STEPS,), what="grad_norms").astype(np.float64)
        norms.append(np.maximum(raw, 1e-12))
    figure = charts.figure()
    axes = charts.plain(figure.subplots())
    axes.plot(norms[0], color=charts.FIRST, label="without clipping")
    axes.plot(norms[1], "--", color=charts.SECOND, label="with clipping")
    axes.axhline(BOUND, color=charts.INK, linestyle=":", label=f"bound {BOUND:g}")
    axes.set(xlabel="step", ylabel="norm of the raw gradient", yscale="log")
    axes.legend(labelcolor=charts.INK, frameon=False)
    above = [f"{(series > BOUND).mean():.0%}" for series in norms]
    caption = (
        f"Norms of the raw gradient over {STEPS} steps. They are above the bound of {BOUND:g} in"
        f" {above[0]} of the steps without clipping and in {above[1]} with it."
    )
    return Picture(charts.svg(figure, "Gradient norms over training", caption), caption)
