"""Writes the table of items, their points and what each shows into CONTRIBUTING.md.

    python -m tests.instruments.items

What stands between the two marks there is replaced; a test fails when it is out of date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.exercises import ROOT, catalogue, graded_tests

PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- items: begin -->", "<!-- items: end -->"


def table() -> str:
    """A table in Markdown for each exercise."""
    return "\n\n".join("\n".join(_rows(name)) for name in catalogue())


def _rows(name: str) -> Iterator[str]:
    tests, exercise = graded_tests(name), catalogue()[name]
    visible = sum(test.item.points for test in tests if not test.hidden)
    hidden = sum(test.item.points for test in tests if test.hidden)
    written = (
        f", {points:g} for the written answer" if (points := sum(exercise.manual.values())) else ""
    )
    yield f"**{name}**: {visible:g} points visible, {hidden:g} hidden{written}"
    yield ""
    yield "| points | item | what it shows |"
    yield "| --: | --- | --- |"
    for test in tests:
        mark = " (hidden)" if test.hidden else ""
        yield f"| {test.item.points:g} | `{test.name}`{mark} | {test.item.title} |"


def page(text: str) -> str:
    """`text` with the table of today between the marks."""
    fresh = f"{BEGIN}\n\n{table()}\n\n{END}"
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: fresh, text, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
