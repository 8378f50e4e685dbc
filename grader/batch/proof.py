"""Whether the reference solution gets full marks on this machine, before others are graded."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from grader.batch.tasks import rules
from grader.cache import cache_folder
from grader.exercises import ROOT
from grader.grading import Grader
from grader.launch import GraderError
from grader.report.model import ExerciseResult


def prove(grader: Grader, exercises: Sequence[str], root: Path = ROOT) -> None:
    """Grades the reference solution as `grader` will grade others.

    A proof holds until the solution, the grader, its tests, its libraries, the sandbox or the
    machine are others, so it costs time once. A kit without solutions has none to give.

    Raises:
      GraderError: the solution loses points here; the line says which and what to do.
    """
    solutions = root / "solutions"
    if not solutions.is_dir():
        return
    missing = [name for name in exercises if not _record(grader, name, solutions).exists()]
    if not missing:
        return
    report = grader.grade(solutions, exercises=missing)
    for name, result in report.exercises.items():
        if lost := loss(name, result):
            raise GraderError(f"nothing was graded: {lost}")
        _record(grader, name, solutions).touch()


def loss(name: str, result: ExerciseResult) -> str | None:
    """What the reference solution lost first in an exercise, in a line; None: nothing."""
    for item in result.items:
        if item.outcome != "passed":
            what = " ".join(f"{item.message} {item.detail}".split())[:300]
            return (
                f"the reference solution loses {name}/{item.name} here ({item.outcome}: {what});"
                " mend the machine or the tests first"
            )
    return None


def _record(grader: Grader, name: str, solutions: Path) -> Path:
    """An empty file that is there when the proof was given."""
    parts = [rules(), name, (solutions / f"{name}.py").read_text("utf-8")]
    parts += [grader.sandbox, platform.node(), platform.release(), sys.version]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    folder = cache_folder() / "proven"
    folder.mkdir(exist_ok=True)
    return folder / digest[:24]
