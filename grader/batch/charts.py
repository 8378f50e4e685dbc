"""Plots as SVG for a page that may be light or dark, with words for those who cannot see them."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

# Colours that stand for the page's own: replaced by CSS variables in the finished SVG.
_INK, _BAR = "#010203", "#040506"
_VARIABLES = {_INK: "var(--ink)", _BAR: "var(--accent)"}
_BINS = 20


def distribution(points: Sequence[float], max_points: float) -> str:
    """A histogram of marks, as an SVG element to put into a page.

    The page defines the CSS variables `--ink` and `--accent`.
    """
    counts, edges = np.histogram(points, bins=_BINS, range=(0, max_points or 1))
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "jaxlings"}):
        figure = Figure(figsize=(8, 3), layout="constrained")
        axes = figure.add_subplot()
        axes.bar(edges[:-1], counts, width=np.diff(edges) * 0.9, align="edge", color=_BAR)
        axes.set(xlabel=f"points of {max_points:g}", ylabel="students", xlim=(0, edges[-1]))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.tick_params(colors=_INK)
        for text in (axes.xaxis.label, axes.yaxis.label):
            text.set_color(_INK)
        for side, spine in axes.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(_INK)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    fullest = int(np.argmax(counts))
    return _accessible(
        stream.getvalue(),
        "Distribution of marks",
        f"Histogram of {len(points)} students' marks. Median {np.median(points):.1f} of "
        f"{max_points:g} points; most students ({counts[fullest]}) have "
        f"{edges[fullest]:g} to {edges[fullest + 1]:g}."
        if len(points)
        else "There are no marks yet.",
    )


def _accessible(svg: str, title: str, description: str) -> str:
    """The bare `<svg>` element with a title, a description and the page's colours."""
    svg = svg[svg.index("<svg") :]
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, variable)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    words = (
        f'<title id="chart-title">{html.escape(title)}</title>'
        f'<desc id="chart-words">{html.escape(description)}</desc>'
    )
    head, body = svg.split(">", 1)
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    return f'{head} role="img" aria-labelledby="chart-title chart-words">{words}{body}'
