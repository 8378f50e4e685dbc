"""The instructor's page on a whole batch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

import jinja2

from grader import exercises as course
from grader.batch import charts
from grader.batch.journal import Marks
from grader.report.clean import clean
from grader.report.model import KNOWN_MISTAKE, ItemResult

_COMMON = 3
_SLOWEST = 10
_NUMBER = re.compile(r"[-+]?\d[\d_]*\.?\d*(e[-+]?\d+)?")


@dataclass
class ItemCount:
    """How the class did on one item."""

    title: str
    hidden: bool
    max_points: float
    outcomes: Counter[str] = field(default_factory=Counter)
    messages: Counter[str] = field(default_factory=Counter)

    @property
    def passed(self) -> int:
        return self.outcomes["passed"]

    @property
    def graded(self) -> int:
        return self.outcomes.total() - self.outcomes["ungraded"]

    @property
    def common(self) -> list[tuple[str, int]]:
        """What went wrong most often, in the words of the messages."""
        return [pair for pair in self.messages.most_common(_COMMON) if pair[1] > 1]


class Summary:
    """Counts marks one student after the other; keeps no reports, so that memory stays flat."""

    def __init__(self, identical: Mapping[str, Sequence[Sequence[str]]]) -> None:
        """`identical` are the groups of students with equal modules, by exercise."""
        self._identical = identical
        self._points: list[float] = []
        self._max_points = 0.0
        self._seconds: list[tuple[float, str]] = []
        self._ungraded: list[tuple[str, str]] = []
        self._outdated: list[tuple[str, str]] = []
        self._environments: Counter[str] = Counter()
        self._items: dict[str, dict[tuple[str, bool], ItemCount]] = {
            exercise: {
                (test.name, test.hidden): ItemCount(test.item.title, test.hidden, test.item.points)
                for test in course.graded_tests(exercise)
            }
            for exercise in course.catalogue()
        }

    def add(self, marks: Marks) -> None:
        """Counts a student's marks."""
        student, report = marks.submission.student, marks.report
        self._max_points = max(self._max_points, report.max_points)
        if marks.graded:
            self._points.append(report.points)
        else:
            _, first = report.ungraded[0]
            self._ungraded.append((student, first.message))
        if marks.outdated:
            self._outdated.append((student, ", ".join(marks.outdated)))
        seconds = sum(result.seconds for result in report.exercises.values())
        self._seconds = sorted([*self._seconds, (seconds, student)], reverse=True)[:_SLOWEST]
        self._environments[" · ".join(_about(report.environment))] += 1
        for exercise, result in report.exercises.items():
            for item in result.items:
                count = self._items[exercise].get((item.name, item.hidden))
                if count:
                    _count(item, count)

    def page(self) -> str:
        """The page, complete in itself."""
        template = files("grader.batch").joinpath("summary.html.jinja").read_text()
        environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
        return environment.from_string(template).render(
            chart=charts.distribution(self._points, self._max_points),
            points=self._points,
            max_points=self._max_points,
            students=len(self._points) + len(self._ungraded),
            exercises=course.catalogue(),
            items=self._items,
            slowest=self._seconds,
            ungraded=self._ungraded,
            outdated=self._outdated,
            identical=self._identical,
            environments=self._environments,
        )


def _count(item: ItemResult, count: ItemCount) -> None:
    count.outcomes[item.outcome] += 1
    if item.outcome in ("passed", "ungraded"):
        return
    # What was wrong on a hidden item stands in the detail, which students do not see.
    text = (item.detail if item.hidden else item.message) or item.outcome
    what = _NUMBER.sub("…", clean(text).splitlines()[0])
    known = [
        line.removeprefix(KNOWN_MISTAKE)
        for line in item.detail.splitlines()
        if line.startswith(KNOWN_MISTAKE)
    ]
    count.messages[f"{known[0]}: {what}" if known else what] += 1


def _about(environment: Mapping[str, str]) -> list[str]:
    return [
        f"{name} {environment[name]}"
        for name in ("jax", "backend", "device", "python", "sandbox")
        if environment.get(name)
    ]
