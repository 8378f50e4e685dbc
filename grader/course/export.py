"""Marks for other programs: every item for a spreadsheet, totals for Canvas and Moodle.

What is not graded yet stays empty: it is no zero.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin

from grader.report.terminal import number

_LMS_NAME = re.compile(r"(?P<name>.+)_(?P<id>\d+)")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Export(ExportPlugin):
    """Writes a table with a line a student."""

    file = ""

    def export(self, gradebook: Gradebook) -> None:
        wanted = {str(name) for name in self.assignment}
        assignments = [a for a in gradebook.assignments if not wanted or a.name in wanted]
        rows = [
            [_no_formula(str(value)) for value in row] for row in self.rows(gradebook, assignments)
        ]
        to = Path(self.to or self.file)
        with to.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows(rows)
        self.log.info("Exported marks to %s", to)

    def rows(self, gradebook: Gradebook, assignments: Sequence[Any]) -> Iterator[list[Any]]:
        """The lines, their heading first."""
        raise NotImplementedError

    def students(self, gradebook: Gradebook) -> Iterable[Any]:
        """Those asked for, by default all, in the order of their ids."""
        wanted = {str(name) for name in self.student}
        chosen = [s for s in gradebook.students if not wanted or s.id in wanted]
        return sorted(chosen, key=lambda student: student.id)


class ItemExport(_Export):
    """Every item's points: `nbgrader export --exporter grader.course.export.ItemExport`."""

    file = "items.csv"

    def rows(self, gradebook: Gradebook, assignments: Sequence[Any]) -> Iterator[list[Any]]:
        cells = [
            (assignment.name, notebook.name, cell.name)
            for assignment in assignments
            for notebook in assignment.notebooks
            for cell in notebook.grade_cells
        ]
        columns = [f"{notebook}/{cell}" for _, notebook, cell in cells]
        yield ["student", "points", "max_points", "late_penalty", "timestamp", *columns]
        for student in self.students(gradebook):
            submissions = [_submission(gradebook, a.name, student.id) for a in assignments]
            found = [submission for submission in submissions if submission is not None]
            scores = {
                (submission.name, notebook.name, grade.name): _points(grade)
                for submission in found
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            total = _total(submissions)
            stamps = [str(submission.timestamp or "") for submission in found]
            penalty = sum(submission.late_submission_penalty for submission in found)
            most = sum(assignment.max_score for assignment in assignments)
            points = "" if total is None else number(total)
            yield [
                *(student.id, points, number(most), number(penalty), " ".join(stamps)),
                *(scores.get(cell, "") for cell in cells),
            ]


class CanvasExport(_Export):
    """Totals as Canvas imports them; ids are those of files that Canvas named."""

    file = "canvas.csv"

    def rows(self, gradebook: Gradebook, assignments: Sequence[Any]) -> Iterator[list[Any]]:
        yield [
            *("Student", "ID", "SIS User ID", "SIS Login ID", "Section"),
            *(assignment.name for assignment in assignments),
        ]
        most = [number(assignment.max_score) for assignment in assignments]
        yield ["    Points Possible", "", "", "", "", *most]
        for student in self.students(gradebook):
            name, lms = _lms(student)
            login = "" if lms else student.id
            yield [name, lms, "", login, "", *_totals(gradebook, assignments, student)]


class MoodleExport(_Export):
    """Totals as Moodle imports them: `Identifier` as in its worksheet for grading offline."""

    file = "moodle.csv"

    def rows(self, gradebook: Gradebook, assignments: Sequence[Any]) -> Iterator[list[Any]]:
        yield [
            "Identifier",
            "Full name",
            "Username",
            "Email address",
            *(a.name for a in assignments),
        ]
        for student in self.students(gradebook):
            name, lms = _lms(student)
            who = [f"Participant {lms}", name, ""] if lms else ["", name, student.id]
            yield [*who, student.email or "", *_totals(gradebook, assignments, student)]


def _submission(gradebook: Gradebook, assignment: str, student: str) -> Any:
    try:
        return gradebook.find_submission(assignment, student)
    except MissingEntry:
        return None


def _points(grade: Any) -> str:
    if grade.manual_score is None and grade.auto_score is None:
        return ""
    return number(grade.score)


def _total(submissions: Sequence[Any]) -> float | None:
    """The points of all submissions; None where one is missing or waits for a person."""
    if any(s is None or s.needs_manual_grade for s in submissions):
        return None
    return float(sum(max(0.0, s.score - s.late_submission_penalty) for s in submissions))


def _totals(gradebook: Gradebook, assignments: Sequence[Any], student: Any) -> list[str]:
    totals = [_total([_submission(gradebook, a.name, student.id)]) for a in assignments]
    return ["" if total is None else number(total) for total in totals]


def _lms(student: Any) -> tuple[str, str]:
    """A student's name, and the number by which the LMS knows them, if the id holds one."""
    names = [student.first_name, student.last_name]
    full = " ".join(name for name in names if name)
    if found := _LMS_NAME.fullmatch(student.id):
        return full or found["name"], found["id"]
    return full or student.id, ""


def _no_formula(text: str) -> str:
    """A spreadsheet would run what looks like a formula."""
    is_number = re.fullmatch(r"-?[\d.]+", text)
    return f"'{text}" if text.startswith(_FORMULA) and not is_number else text
