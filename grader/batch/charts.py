"""Plots of a whole batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import MaxNLocator

from grader.report.charts import FIRST, figure, plain, svg

_BINS = 20


def distribution(points: Sequence[float], max_points: float) -> str:
    """A histogram of marks as an SVG element (see `grader.report.charts.svg`)."""
    counts, edges = np.histogram(points, bins=_BINS, range=(0, max_points or 1))
    drawn = figure()
    axes = plain(drawn.add_subplot())
    axes.bar(edges[:-1], counts, width=np.diff(edges) * 0.9, align="edge", color=FIRST)
    axes.set(xlabel=f"points of {max_points:g}", ylabel="students", xlim=(0, edges[-1]))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    return svg(drawn, "Distribution of marks", _in_words(points, max_points, counts, edges))


def _in_words(
    points: Sequence[float],
    max_points: float,
    counts: np.ndarray[tuple[int], np.dtype[np.int_]],
    edges: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> str:
    if not len(points):
        return "There are no marks yet."
    fullest = int(np.argmax(counts))
    return (
        f"Histogram of {len(points)} students' marks. The median is {np.median(points):.1f} of "
        f"{max_points:g} points; the fullest bar, {counts[fullest]} students, is from "
        f"{edges[fullest]:g} to {edges[fullest + 1]:g} points."
    )
