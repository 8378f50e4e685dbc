"""What the journal remembers, and what it never forgets."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from grader.batch.journal import FILE, Journal, JournalError
from grader.batch.tasks import Task, Verdict, ungraded
from grader.report.model import ExerciseResult, ItemResult

EXERCISES = ("clipping", "dropout")
SETTING = "this machine, these tests"


def task(content: str, exercise: str = "dropout") -> Task:
    return Task(
        content=content, exercise=exercise, modules={exercise: content.encode()}, problems={}
    )


def verdict(content: str, points: float | None, exercise: str = "dropout") -> Verdict:
    """A verdict of one item worth 20 points; None: ungraded."""
    item = ItemResult(
        name="test_it",
        title="It works",
        hidden=False,
        points=points or 0.0,
        max_points=20.0,
        outcome="ungraded" if points is None else "passed" if points == 20 else "failed",
        message="",
        detail="",
    )
    result = ExerciseResult(points=item.points, max_points=20.0, seconds=1.0, items=[item])
    return Verdict(
        content=content, exercise=exercise, result=result, environment={"jax": "0.10", "seed": "7"}
    )


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    journal = Journal(tmp_path / "out", EXERCISES, resume=False)
    journal.begin_scan()
    return journal


def waiting(journal: Journal, setting: str = SETTING) -> list[str]:
    return [task.content for task in journal.waiting(setting, EXERCISES)]


class TestTasks:
    def test_equal_contents_wait_once(self, journal: Journal) -> None:
        journal.add("ann", "ann", None, [task("x")])
        journal.add("bob", "bob", None, [task("x")])

        assert waiting(journal) == ["x"]
        assert journal.waiting_by_student(SETTING) == {"ann": 1, "bob": 1}
        assert journal.students_of("x") == ["ann", "bob"]

    def test_come_back_as_they_were_filed(self, journal: Journal) -> None:
        journal.add("ann", "ann", None, [task("x")])

        assert list(journal.waiting(SETTING, EXERCISES)) == [task("x")]

    def test_a_verdict_ends_the_wait_in_its_setting_only(self, journal: Journal) -> None:
        journal.add("ann", "ann", None, [task("x"), task("y", "clipping")])
        journal.record(verdict("x", 20), SETTING)

        assert waiting(journal) == ["y"]
        assert sorted(waiting(journal, "newer tests")) == ["x", "y"]

    def test_an_ungraded_one_still_waits(self, journal: Journal) -> None:
        journal.add("ann", "ann", None, [task("x")])
        journal.record(verdict("x", None), SETTING)

        assert waiting(journal) == ["x"]

    def test_of_some_exercises(self, journal: Journal) -> None:
        journal.add("ann", "ann", None, [task("x"), task("y", "clipping")])

        assert [t.content for t in journal.waiting(SETTING, ["clipping"])] == ["y"]


class TestVerdicts:
    def test_a_failed_regrade_never_replaces_a_good_verdict(self, journal: Journal) -> None:
        journal.add("ann", "ann", None, [task("x")])
        journal.record(verdict("x", 12), SETTING)
        journal.record(verdict("x", None), SETTING)

        marks = journal.marks("ann", SETTING)
        assert marks.report.exercises["dropout"].points == 12
        assert marks.outdated == ()

    def test_a_good_verdict_replaces_a_failed_one(self, journal: Journal) -> None:
        journal.add("ann", "ann", None, [task("x")])
        journal.record(verdict("x", None), SETTING)
        journal.record(verdict("x", 12), SETTING)

        assert journal.marks("ann", SETTING).report.points == 12

    def test_an_earlier_verdict_stands_in_where_the_new_grading_failed(
        self, journal: Journal
    ) -> None:
        journal.add("ann", "ann", None, [task("x"), task("y", "clipping")])
        for content, exercise in (("x", "dropout"), ("y", "clipping")):
            journal.record(verdict(content, 12, exercise), "older tests")
        journal.record(verdict("x", None), SETTING)
        journal.record(verdict("y", 15, "clipping"), SETTING)

        marks = journal.marks("ann", SETTING)
        assert marks.report.points == 27
        assert marks.outdated == ("dropout",)
        assert marks.graded

    def test_without_a_verdict_an_exercise_is_ungraded_not_zero(self, journal: Journal) -> None:
        journal.add("ann", "ann", None, [task("x")])

        marks = journal.marks("ann", SETTING)
        assert not marks.graded
        assert marks.report.max_points > 0
        assert {item.outcome for _, item in marks.report.ungraded} == {"ungraded"}

    def test_are_on_disk_at_once(self, journal: Journal) -> None:
        journal.add("ann", "ann", None, [task("x")])
        journal.record(verdict("x", 12), SETTING)

        with sqlite3.connect(journal.path) as other:
            assert other.execute("SELECT student, points FROM results").fetchall() == [("ann", 12)]

    def test_report_is_of_the_student_and_in_the_order_of_the_course(
        self, journal: Journal
    ) -> None:
        journal.add("ann", "ann", None, [task("x"), task("y", "clipping")])
        journal.record(verdict("x", 12), SETTING)
        journal.record(verdict("y", 20, "clipping"), SETTING)

        report = journal.marks("ann", SETTING).report
        assert report.submission == "ann"
        assert list(report.exercises) == list(EXERCISES)
        assert (report.points, report.max_points) == (32, 40)
        assert report.environment["jax"] == "0.10"


class TestSubmissions:
    def hand_in(self, journal: Journal, content: str, when: int | None, points: float) -> None:
        handed_in = datetime(2026, 11, when, tzinfo=UTC) if when else None
        parts = [task(content), task(f"{content}-clipping", "clipping")]
        journal.add("ann", f"ann ({content})", handed_in, parts)
        journal.record(verdict(content, points), SETTING)
        journal.record(verdict(f"{content}-clipping", 10, "clipping"), SETTING)

    def source(self, journal: Journal, which: str) -> str:
        return journal.marks("ann", SETTING, which).submission.source  # type: ignore[arg-type]

    def test_latest_and_best(self, journal: Journal) -> None:
        self.hand_in(journal, "late", 9, 5)
        self.hand_in(journal, "good", 3, 20)

        assert self.source(journal, "latest") == "ann (late)"
        assert self.source(journal, "best") == "ann (good)"

    def test_of_equally_good_ones_the_latest_is_best(self, journal: Journal) -> None:
        self.hand_in(journal, "late", 9, 5)
        self.hand_in(journal, "early", 3, 5)

        assert self.source(journal, "best") == "ann (late)"

    def test_a_later_scan_is_later_whatever_the_dates_say(self, journal: Journal) -> None:
        self.hand_in(journal, "first", 9, 5)
        journal.begin_scan()
        self.hand_in(journal, "second", None, 5)

        assert self.source(journal, "latest") == "ann (second)"

    def test_handing_the_first_in_again_makes_it_the_latest(self, journal: Journal) -> None:
        self.hand_in(journal, "first", None, 5)
        journal.begin_scan()
        self.hand_in(journal, "second", None, 5)
        journal.begin_scan()
        self.hand_in(journal, "first", None, 5)

        assert self.source(journal, "latest") == "ann (first)"
        assert len(journal.submissions("ann")) == 2

    def test_what_cannot_be_read_is_ungraded_with_the_reason(self, journal: Journal) -> None:
        journal.add("ann", "ann.zip", None, [], unreadable="ann.zip is not a zip")

        marks = journal.marks("ann", SETTING)
        assert not marks.graded
        assert {i.message for _, i in marks.report.ungraded} == {"ann.zip is not a zip"}

    def test_sources(self, journal: Journal) -> None:
        missing = Task(content="m", exercise="clipping", modules={}, problems={})
        journal.add("ann", "ann", None, [task("x"), missing])

        assert journal.sources(journal.submissions("ann")[0]) == {"dropout": b"x"}

    def test_identical_modules_of_the_latest_submissions(self, journal: Journal) -> None:
        journal.add("ann", "ann", None, [task("x")])
        journal.add("bob", "bob", None, [task("x")])
        journal.add("cy", "cy", None, [task("x")])
        journal.begin_scan()
        journal.add("cy", "cy", None, [task("own")])

        assert journal.identical() == [("dropout", "x", ["ann", "bob"])]


class TestOpening:
    def test_again_needs_resume(self, tmp_path: Path) -> None:
        Journal(tmp_path, EXERCISES, resume=False).close()

        with pytest.raises(JournalError, match="--resume"):
            Journal(tmp_path, EXERCISES, resume=False)
        Journal(tmp_path, EXERCISES, resume=True).close()

    def test_resume_may_also_begin(self, tmp_path: Path) -> None:
        Journal(tmp_path, EXERCISES, resume=True).close()

    def test_of_another_course(self, tmp_path: Path) -> None:
        Journal(tmp_path, EXERCISES, resume=False).close()

        with pytest.raises(JournalError, match="another course"):
            Journal(tmp_path, ("scaling",), resume=True)

    def test_of_something_else(self, tmp_path: Path) -> None:
        (tmp_path / FILE).write_bytes(b"no database at all" * 100)

        with pytest.raises(JournalError, match="cannot be used"):
            Journal(tmp_path, EXERCISES, resume=True)

    def test_by_two_at_once(self, tmp_path: Path) -> None:
        with (
            Journal(tmp_path, EXERCISES, resume=False),
            pytest.raises(JournalError, match="another batch"),
        ):
            Journal(tmp_path, EXERCISES, resume=True)

    def test_where_nothing_can_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()

        with pytest.raises(JournalError, match="choose another --out"):
            Journal(tmp_path / "file" / "out", EXERCISES, resume=False)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
    def test_in_a_read_only_folder(self, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir(mode=0o500)

        with pytest.raises(JournalError, match="choose another --out"):
            Journal(tmp_path / "out", EXERCISES, resume=False)


class TestEndings:
    def test_a_kill_loses_nothing_and_frees_the_lock(self, tmp_path: Path) -> None:
        code = f"""
import os, signal, sys
from pathlib import Path
from grader.batch.journal import Journal
from tests.grader.batch.test_journal import EXERCISES, SETTING, task, verdict
journal = Journal(Path({str(tmp_path)!r}), EXERCISES, resume=False)
journal.begin_scan()
journal.add("ann", "ann", None, [task("x")])
journal.record(verdict("x", 12), SETTING)
os.kill(os.getpid(), signal.SIGKILL)
"""
        done = subprocess.run([sys.executable, "-c", code], check=False)
        assert done.returncode == -9

        with Journal(tmp_path, EXERCISES, resume=True) as journal:
            assert journal.marks("ann", SETTING).report.points == 12

    def test_a_full_disk_is_said_and_loses_nothing(self, journal: Journal) -> None:
        journal.add("ann", "ann", None, [task("x")])
        journal.record(verdict("x", 12), SETTING)
        journal._db.execute("PRAGMA max_page_count = 1")  # as little as it holds by now
        big = verdict("y", 20)
        items = [msgspec.structs.replace(big.result.items[0], detail="long " * 100_000)]
        big = msgspec.structs.replace(big, result=msgspec.structs.replace(big.result, items=items))

        with pytest.raises(JournalError, match=r"is full.*--resume"):
            journal.record(big, SETTING)

        assert journal.marks("ann", SETTING).report.exercises["dropout"].points == 12


def test_ungraded_results_hold_every_item() -> None:
    result = ungraded("dropout", "why")

    assert result.max_points == 20
    assert {(item.outcome, item.message) for item in result.items} == {("ungraded", "why")}
