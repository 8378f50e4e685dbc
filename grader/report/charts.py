"""Figures of matplotlib as SVG for a page that may be light or dark, with words beside them."""

from __future__ import annotations

import html
import io
import itertools
import re

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

# Colours that stand for the page's own: replaced by CSS variables in the finished SVG.
INK, FIRST, SECOND, PALE = "#010203", "#040506", "#070809", "#0a0b0c"
_VARIABLES = {
    INK: "var(--ink)",
    FIRST: "var(--accent)",
    SECOND: "var(--second)",
    PALE: "var(--line)",
}
_numbers = itertools.count(1)


def figure(width: float = 8, height: float = 3) -> Figure:
    """An empty figure of this size in inches, unknown to pyplot."""
    return Figure(figsize=(width, height), layout="constrained")


def plain(axes: Axes) -> Axes:
    """Axes in the page's ink, framed at the left and below only."""
    axes.tick_params(colors=INK, which="both")
    for text in (axes.xaxis.label, axes.yaxis.label, axes.title):
        text.set_color(INK)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(INK)
    return axes


def two_tones() -> ListedColormap:
    """Pale for 0, the page's accent for 1."""
    return ListedColormap([PALE, FIRST])


def svg(drawn: Figure, title: str, description: str) -> str:
    """`drawn` as an SVG element that says what it shows.

    The page defines the CSS variables `--ink`, `--accent`, `--second` and `--line`.
    """
    number = next(_numbers)
    stream = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": f"chart-{number}"}):
        drawn.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    text = stream.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(
        r'id="(?:figure|axes|patch|line2d|text|matplotlib|legend|xtick|ytick)[^"]*"', "", text
    )
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, variable)
    head, body = text.split(">", 1)
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    words = (
        f'<title id="title-{number}">{html.escape(title)}</title>'
        f'<desc id="words-{number}">{html.escape(description)}</desc>'
    )
    return f'{head} role="img" aria-labelledby="title-{number} words-{number}">{words}{body}'
