"""Which graded cells a notebook has, and how nbgrader's gradebook calls them.

A visible item's cell is called as its test; hidden ones are numbered in the order of their file, so
that nothing in a notebook names them. Ids must not change once an assignment is released: new tests
go to the end of their files.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader import exercises as course
from grader.exercises import GradedTest

ASSIGNMENT = "jax"


@dataclass(frozen=True)
class CheckCell:
    """A cell that is filled with the verdict on one item."""

    grade_id: str
    source: str
    test: GradedTest

    @property
    def points(self) -> float:
        return self.test.item.points


@dataclass(frozen=True)
class AnswerCell:
    """A cell with a written answer, which a person marks."""

    grade_id: str
    attribute: str
    points: float


def check_cells(exercise: str) -> list[CheckCell]:
    """The cells of an exercise's items, the visible ones first."""
    cells = []
    hidden = 0
    for test in course.graded_tests(exercise):
        if test.hidden:
            hidden += 1
            source = f'check_hidden("{exercise}", {hidden})'
            cells.append(CheckCell(f"hidden-{hidden:02}", source, test))
        else:
            cells.append(CheckCell(test.name, f'check("{exercise}", "{test.name}")', test))
    return cells


def answer_cells(exercise: str) -> list[AnswerCell]:
    """The cells of an exercise's written answers."""
    return [
        AnswerCell(f"answer-{attribute}", attribute, points)
        for attribute, points in course.catalogue()[exercise].manual.items()
    ]
