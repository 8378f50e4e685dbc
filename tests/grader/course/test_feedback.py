"""What a person changed, and pictures, on a page of feedback."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.batch.tasks import ungraded
from grader.course import feedback
from grader.course.cells import check_cells
from grader.course.feedback import FeedbackExporter
from grader.ingest import Submission
from grader.pictures import Picture

EXERCISE = "clipping"


def grades(**manual: float) -> SimpleNamespace:
    """A notebook of the gradebook in which some cells have a manual mark."""
    found = [
        SimpleNamespace(name=name, manual_score=points, extra_credit=None, score=points)
        for name, points in manual.items()
    ]
    return SimpleNamespace(grades=found)


def test_a_manual_mark_takes_the_place_of_an_automatic_one() -> None:
    cell = check_cells(EXERCISE)[0]
    marked = feedback._as_marked(
        ungraded(EXERCISE, "The machine failed."), EXERCISE, grades(**{cell.grade_id: cell.points})
    )
    first, *others = marked.items
    assert (first.points, first.outcome) == (cell.points, "passed")
    assert "A person gave" in first.message
    assert marked.points == cell.points
    assert {item.outcome for item in others} == {"ungraded"}


class Artist:
    """Counts the pictures that it is asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def pictures(self, submission: Submission, exercises: list[str]) -> dict[str, Picture | str]:
        self.asked += 1
        return {exercises[0]: Picture("<svg></svg>", "A caption.")}


def test_equal_modules_are_drawn_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    artist = Artist()
    monkeypatch.setattr(feedback, "shared_grader", lambda sandbox: artist)
    exporter = FeedbackExporter()
    drawn = [
        exporter._picture(Submission(student, {EXERCISE: b"x = 1"}), EXERCISE, tmp_path)
        for student in ("ann", "ben")
    ]
    assert drawn == 2 * [{EXERCISE: Picture("<svg></svg>", "A caption.")}]
    assert artist.asked == 1
    assert exporter._picture(Submission("cy", {}), EXERCISE, tmp_path) == {}
