"""The results file: what grading a submission found out (schema 1)."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Literal

import msgspec

Outcome = Literal["passed", "failed", "error", "timeout", "crashed", "ungraded"]


KNOWN_MISTAKE = "known mistake: "
"""What a line of an item's detail begins with that gives the id of the mistake it was."""


class ItemResult(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one item.

    `ungraded` means that the grader or the machine failed, never the student. `message` is for the
    student, `detail` for the instructor.
    """

    name: str
    title: str
    hidden: bool
    points: float
    max_points: float
    outcome: Outcome
    message: str
    detail: str


class ExerciseResult(msgspec.Struct, frozen=True, kw_only=True):
    """The items of one exercise; `seconds` is elapsed time."""

    points: float
    max_points: float
    seconds: float
    items: list[ItemResult]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on a submission. `max_points` counts what can be graded automatically."""

    schema: int = 1
    submission: str
    points: float
    max_points: float
    environment: dict[str, str]
    exercises: dict[str, ExerciseResult]

    @property
    def ungraded(self) -> list[tuple[str, ItemResult]]:
        """The items without a verdict, with the names of their exercises."""
        return [
            (name, item)
            for name, exercise in self.exercises.items()
            for item in exercise.items
            if item.outcome == "ungraded"
        ]

    @property
    def complete(self) -> bool:
        """Whether every item was passed."""
        return all(i.outcome == "passed" for e in self.exercises.values() for i in e.items)


def to_json(report: Report) -> bytes:
    """The results file, indented, UTF-8."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"


def from_json(data: bytes) -> Report:
    """Reads a results file.

    Raises:
      ValueError: it is not one.
    """
    try:
        return msgspec.json.decode(data, type=Report)
    except msgspec.MsgspecError as error:
        raise ValueError(f"not a results file: {error}") from error


def write_atomically(path: Path, data: bytes) -> None:
    """Writes a file that is either whole or not there at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
