"""The report as one self-contained page: no script, no network, nothing unescaped."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import jinja2

from grader.exercises import POINTS, Exercise
from grader.pictures import Picture
from grader.report.clean import clean
from grader.report.model import ItemResult, Report
from grader.report.terminal import number

_MARKS = {"passed": "✓", "ungraded": "?"}
_WORDS = {
    "passed": "passed",
    "failed": "failed",
    "error": "error",
    "timeout": "out of time",
    "crashed": "crashed",
    "ungraded": "not graded",
}
_FRAME = re.compile(
    r"^\s+(?P<file>[\w.]+), line (?P<line>\d+), in (?P<function>[^:]+): (?P<text>.*)$"
)


@dataclass(frozen=True)
class Answer:
    """A written answer's marks, and what a person said of it."""

    title: str
    points: float | None
    max_points: float
    comment: str = ""


def page(
    report: Report,
    exercises: Mapping[str, Exercise],
    *,
    student: str | None = None,
    hints: Mapping[tuple[str, str], str] | None = None,
    pictures: Mapping[str, Picture | str] | None = None,
    sources: Mapping[str, bytes] | None = None,
    answers: Mapping[str, Answer] | None = None,
    remarks: Sequence[str] = (),
) -> str:
    """The page of a report, for its student: hidden items tell their title and their outcome.

    Args:
      student: whose it is; the submission's name if None.
      hints: of the items, by exercise and name.
      pictures: by exercise; a text says why there is none.
      sources: the modules, for the lines around a traceback's.
      answers: marks of written answers, by exercise.
      remarks: lines below the total.
    """
    manual = sum(sum(exercises[name].manual.values()) for name in report.exercises)
    return _template().render(
        report=report,
        student=student or report.submission,
        exercises=exercises,
        hints=hints or {},
        pictures=pictures or {},
        answers=answers or {},
        remarks=remarks,
        manual=manual,
        hidden_points=POINTS * len(report.exercises) - report.max_points - manual,
        number=number,
        mark=lambda item: _MARKS.get(item.outcome, "✗"),
        word=lambda item: _WORDS[item.outcome],
        told=_told,
        frames=lambda item, name: _frames(item, (sources or {}).get(name, b"")),
    )


@dataclass(frozen=True)
class Frame:
    """A line of the student's in a traceback, with its neighbours where the source is known."""

    where: str
    lines: tuple[tuple[int, str, bool], ...]


def _told(item: ItemResult) -> str:
    """What a student is told of an item beyond its outcome."""
    return "" if item.outcome == "passed" else clean(item.message, 8)


def _frames(item: ItemResult, source: bytes) -> list[Frame]:
    """The student's own lines of an item's traceback; none for hidden items."""
    if item.hidden or item.outcome == "passed":
        return []
    lines = source.decode("utf-8", "replace").splitlines()
    found = []
    for text in item.detail.splitlines():
        if match := _FRAME.match(text):
            at = int(match["line"])
            around = [
                (n, clean(lines[n - 1]), n == at)
                for n in range(at - 2, at + 3)
                if 1 <= n <= len(lines)
            ]
            if not any(n == at for n, _, _ in around):
                around = [(at, match["text"], True)]
            where = f"{match['file']}, line {at}, in {match['function']}"
            found.append(Frame(where, tuple(around)))
    return found[-3:]


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("grader.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("report.html.jinja")
