"""What an instructor gets out of a batch: files for each student, and a summary of them all."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from dataclasses import dataclass
from pathlib import Path

from grader import exercises as course
from grader.batch.journal import Journal, Marks, Which
from grader.batch.summary import Summary
from grader.batch.tasks import tasks
from grader.exercises import ROOT
from grader.ingest import Submission, ingest
from grader.report.html import page
from grader.report.model import to_json, write_atomically
from grader.report.terminal import number

_MOST_BYTES = 200  # of a file's name; file systems allow 255
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Line:
    """What is said of one student; `remarks` are what an instructor should look at."""

    student: str
    points: float
    max_points: float
    graded: bool
    remarks: tuple[str, ...]


class Publisher:
    """Writes `results/`, `feedback/`, `summary.csv` and `summary.html` from the journal.

    Each file is replaced as a whole, so that a reader never meets half of one.
    """

    def __init__(self, out: Path, journal: Journal, setting: str, which: Which) -> None:
        self._out = out
        self._journal = journal
        self._setting = setting
        self._which: Which = which
        self._published: set[str] = set()
        self._exercises = course.catalogue()
        tests = [test for name in self._exercises for test in course.graded_tests(name)]
        self._hints = {(test.exercise, test.name): test.item.hint for test in tests}

    def publish(self, student: str) -> None:
        """Writes the results file and the feedback of a student."""
        self._write(self._journal.marks(student, self._setting, self._which))

    def finish(self) -> list[Line]:
        """Writes what is still to be written, and the summaries; returns a line on each student."""
        summary = Summary(self._identical())
        table = io.StringIO()
        rows = csv.writer(table)
        rows.writerow(["student", "points", "max_points", *_columns()])
        lines = []
        for student in self._journal.students():
            marks = self._journal.marks(student, self._setting, self._which)
            if student not in self._published:
                self._write(marks)
            summary.add(marks)
            rows.writerow(_row(marks))
            lines.append(_line(marks))
        write_atomically(self._out / "summary.csv", table.getvalue().encode())
        write_atomically(self._out / "summary.html", summary.page().encode())
        return lines

    def _identical(self) -> dict[str, list[list[str]]]:
        """Students with equal modules, by exercise, but for those who have not begun."""
        names = list(self._exercises)
        begun: dict[str, list[list[str]]] = {name: [] for name in names}
        untouched = {
            task.content
            for submission in (Submission("", {}), ingest(ROOT / "exercises", names))
            for task in tasks(submission, names)
        }
        for exercise, content, students in self._journal.identical():
            if content not in untouched:
                begun[exercise].append(students)
        return begun

    def _write(self, marks: Marks) -> None:
        student, report = marks.submission.student, marks.report
        name = file_name(student)
        written = page(
            report,
            self._exercises,
            hints=self._hints,
            sources=self._journal.sources(marks.submission),
        )
        write_atomically(self._out / "results" / f"{name}.json", to_json(report))
        write_atomically(self._out / "feedback" / f"{name}.html", written.encode())
        self._published.add(student)


def file_name(student: str) -> str:
    """A file's name for a student: letters and digits stay, what no file's name may hold goes."""
    name = re.sub(r"[^\w @()+,.=-]|^\.", "_", student)
    if len(name.encode()) > _MOST_BYTES or name != student:
        # Names that differ must stay different.
        digest = hashlib.sha256(student.encode()).hexdigest()[:8]
        name = f"{name.encode()[:_MOST_BYTES].decode(errors='ignore')}-{digest}"
    return name


def _columns() -> list[str]:
    return [
        f"{test.exercise}/{'hidden' if test.hidden else 'visible'}/{test.name}"
        for exercise in course.catalogue()
        for test in course.graded_tests(exercise)
    ]


def _row(marks: Marks) -> list[str]:
    """A student's line of the table; what is not graded stays empty, it is no zero."""
    student, report = marks.submission.student, marks.report
    # A spreadsheet would run what looks like a formula.
    shown = f"'{student}" if student.startswith(_FORMULA) else student
    total = number(report.points) if marks.graded else ""
    items = [
        "" if item.outcome == "ungraded" else number(item.points)
        for exercise in report.exercises.values()
        for item in exercise.items
    ]
    return [shown, total, number(report.max_points), *items]


def _line(marks: Marks) -> Line:
    remarks = list(marks.submission.notes)
    if ungraded := marks.report.ungraded:
        remarks.insert(0, f"{len(ungraded)} items not graded: {ungraded[0][1].message}")
    if marks.outdated:
        remarks.insert(0, f"verdict of an earlier grading: {', '.join(marks.outdated)}")
    return Line(
        marks.submission.student,
        marks.report.points,
        marks.report.max_points,
        marks.graded,
        tuple(remarks),
    )
