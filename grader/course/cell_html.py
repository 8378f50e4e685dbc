"""A verdict on one item as it stands below its cell: rich, and plain for whatever shows no HTML."""

from __future__ import annotations

from html import escape

from grader.report.clean import clean
from grader.report.model import ItemResult
from grader.report.terminal import number

_WORDS = {
    "passed": "passed",
    "failed": "failed",
    "error": "error",
    "timeout": "out of time",
    "crashed": "crashed",
    "ungraded": "not graded",
}
_COLOURS = {"passed": "#2e8540", "ungraded": "#8a6d00"}
_LOST = "#c9302c"


def rich(item: ItemResult, hint: str = "", *, instructor: bool = False) -> str:
    """An element with the outcome, the points, the message and, folded away, the hint.

    For an instructor the detail is there too, which tells how a hidden item was lost.
    """
    colour = _COLOURS.get(item.outcome, _LOST)
    shown = [
        f'<div><strong style="color: {colour}">{_mark(item)} {_WORDS[item.outcome]}</strong> '
        f"{escape(item.title)} <span>({_points(item)})</span></div>"
    ]
    if text := _message(item):
        shown.append(f'<div style="white-space: pre-wrap" dir="auto">{escape(text)}</div>')
    if hint and item.outcome not in ("passed", "ungraded"):
        shown.append(f"<details><summary>Hint</summary>{escape(hint)}</details>")
    if instructor and item.detail and item.outcome != "passed":
        detail = escape(clean(item.detail, 60))
        shown.append(
            "<details><summary>Detail, for the instructor</summary>"
            f'<pre style="white-space: pre-wrap">{detail}</pre></details>'
        )
    return f'<div style="border-left: 4px solid {colour}; padding-left: 8px">{"".join(shown)}</div>'


def plain(item: ItemResult) -> str:
    """The same in text; the hint is not in it, being there on demand."""
    line = f"{_mark(item)} {_WORDS[item.outcome]}: {item.title} ({_points(item)})"
    return "\n".join(filter(None, [line, _message(item)]))


def _mark(item: ItemResult) -> str:
    return {"passed": "✓", "ungraded": "?"}.get(item.outcome, "✗")


def _points(item: ItemResult) -> str:
    if item.outcome == "ungraded":
        return f"{number(item.max_points)} points, no mark yet"
    return f"{number(item.points)} of {number(item.max_points)} points"


def _message(item: ItemResult) -> str:
    if item.outcome == "passed":
        return ""
    text = clean(item.message, 8)
    own = [line.strip() for line in item.detail.splitlines() if line.startswith("  ")]
    if item.outcome == "error" and own and not item.hidden:
        text += f"\n{clean(own[-1])}"  # the innermost line of the student's own
    return text
