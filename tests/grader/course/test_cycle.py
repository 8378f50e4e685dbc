"""The whole cycle with nbgrader's own commands, on right, hostile and odd submissions."""

from __future__ import annotations

import csv
import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.grader.course.conftest import Course
from tests.grader.course.submissions import CANARY, class_of, write_archive

pytestmark = pytest.mark.slow

SPECIAL = {"doejane_4711", "jdoe", "Zoë Ångström_815"}
UNREADABLE = "bad_zip"


@dataclass(frozen=True)
class Cycle:
    """A class that was collected, graded and marked."""

    course: Course
    students: set[str]
    collected: str
    graded: str

    @property
    def root(self) -> Path:
        return self.course.root

    def gradebook(self) -> Gradebook:
        return Gradebook(f"sqlite:///{self.root}/gradebook.db?timeout=60")

    def scores(self) -> dict[str, dict[str, float | None]]:
        """The automatic marks in the gradebook, by student and cell."""
        with self.gradebook() as gradebook:
            return {
                submission.student.id: {
                    f"{notebook.name}/{grade.name}": grade.auto_score
                    for notebook in submission.notebooks
                    for grade in notebook.grades
                }
                for submission in gradebook.assignment_submissions("jax")
            }


@pytest.fixture(scope="module")
def cycle(released: Course) -> Cycle:
    everybody = class_of(released.root / "release" / "jax")
    write_archive(everybody, released.root / "downloaded" / "jax" / "archive")
    collected = released.nbgrader("zip_collect", "jax")
    graded = released.autograde()
    return Cycle(released, set(everybody) | SPECIAL, collected, graded)


@pytest.fixture(scope="module")
def batch(cycle: Cycle, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The results files of `grader batch` on the same download, by student."""
    out = tmp_path_factory.mktemp("batch")
    archive = cycle.root / "downloaded" / "jax" / "archive"
    done = cycle.course.kit.run("batch", archive, "--out", out, "--sandbox", "auto")
    assert done.returncode == 2, done.stderr  # one zip is no zip
    results = [json.loads(path.read_bytes()) for path in (out / "results").iterdir()]
    return {result["submission"]: result for result in results}


def rows(path: Path, key: str) -> dict[str, dict[str, str]]:
    with path.open(newline="") as file:
        return {row[key]: row for row in csv.DictReader(file)}


def test_the_class_is_large_and_everybody_is_recorded(cycle: Cycle) -> None:
    assert len(cycle.students) >= 30
    assert set(cycle.scores()) == cycle.students


def test_a_zip_that_cannot_be_read_is_reported_and_its_student_is_known(cycle: Cycle) -> None:
    assert f"Skipped {UNREADABLE}" in cycle.collected
    assert UNREADABLE in (cycle.root / "downloaded" / "jax" / "skipped.txt").read_text()
    with cycle.gradebook() as gradebook:
        assert gradebook.find_student(UNREADABLE)


def test_a_notebook_by_another_name_is_reported(cycle: Cycle) -> None:
    assert "renamed: Homework final(2).ipynb was ignored" in cycle.collected


def test_every_mark_is_that_of_grader_batch(cycle: Cycle, batch: dict[str, Any]) -> None:
    assert set(batch) == cycle.students | {UNREADABLE}
    for student, found in cycle.scores().items():
        for exercise, result in batch[student]["exercises"].items():
            visible = [item for item in result["items"] if not item["hidden"]]
            hidden = [item for item in result["items"] if item["hidden"]]
            wanted = {f"{exercise}/{item['name']}": item["points"] for item in visible}
            wanted |= {f"{exercise}/hidden-{n:02}": i["points"] for n, i in enumerate(hidden, 1)}
            got = {
                name: score
                for name, score in found.items()
                if name.startswith(f"{exercise}/") and "answer" not in name
            }
            assert got == wanted, student


@pytest.mark.parametrize("student", ["right0", "wrong1", "exiting", "shouting", "nested"])
def test_every_mark_is_that_of_grader_grade(cycle: Cycle, student: str) -> None:
    archive = cycle.root / "downloaded" / "jax" / "archive" / f"{student}.zip"
    results = cycle.root / f"{student}.json"
    cycle.course.kit.run("grade", archive, "--json", results)
    alone = json.loads(results.read_bytes())
    found = cycle.scores()[student]
    marks = [score or 0.0 for name, score in found.items() if "answer" not in name]
    assert sum(marks) == alone["points"]
    assert alone["max_points"] == 36.0


def test_forged_outputs_and_points_gain_nothing(cycle: Cycle) -> None:
    found = cycle.scores()
    assert found["forged_outputs"] == found["forged_points"] == found["wrong0"]
    with cycle.gradebook() as gradebook:
        assert gradebook.find_assignment("jax").max_score == 40.0


def test_an_answer_is_found_wherever_it_was_written(cycle: Cycle) -> None:
    def answer(student: str) -> str:
        path = cycle.root / "autograded" / student / "jax" / "shifting.ipynb"
        cells = nbformat.read(path, as_version=4).cells
        (found,) = (
            cell.source
            for cell in cells
            if cell.metadata.get("nbgrader", {}).get("grade_id") == "answer-EXPLANATION"
        )
        return str(found)

    assert answer("answering") == "It adds, and $a+b \\neq ab$."
    assert "text of `EXPLANATION`" in answer("right0")
    assert "Because it adds." in answer("only_py")
    assert answer("stub") == "YOUR ANSWER HERE"
    assert "<" not in answer("injecting")


def test_nothing_answered_is_zero_and_what_was_answered_waits_for_a_person(cycle: Cycle) -> None:
    found = cycle.scores()
    assert found["stub"]["shifting/answer-EXPLANATION"] == 0
    assert found["answering"]["shifting/answer-EXPLANATION"] is None


def test_autograded_notebooks_hold_no_cell_of_a_student(cycle: Cycle) -> None:
    for path in (cycle.root / "autograded").rglob("*.ipynb"):
        if path.stem in ("scaling", "shifting"):
            released = nbformat.read(cycle.root / "release" / "jax" / path.name, as_version=4)
            cells = nbformat.read(path, as_version=4).cells
            assert len(cells) == len(released.cells)
            for cell in cells:
                shown = [output.data["text/html"] for output in cell.get("outputs", ())]
                assert "<script" not in "".join([cell.source, *shown])
                assert "<img" not in "".join([cell.source, *shown])


def test_nothing_secret_is_released_or_in_submitted(cycle: Cycle) -> None:
    for folder in ("source", "release", "submitted"):
        for path in (cycle.root / folder).rglob("*"):
            if path.is_file():
                text = path.read_bytes().decode(errors="replace")
                assert "secretly" not in text
                assert "goes down" not in text
                if folder != "submitted":
                    assert "x * factor" not in text


def test_running_it_again_is_quick_and_changes_nothing(cycle: Cycle) -> None:
    def state() -> dict[str, int]:
        found = (cycle.root / "autograded").rglob("*.ipynb")
        return {str(path): path.stat().st_mtime_ns for path in found}

    before, scores = state(), cycle.scores()
    begun = time.monotonic()
    cycle.course.autograde()
    assert state() == before
    assert cycle.scores() == scores
    assert time.monotonic() - begun < 120


def test_a_changed_module_is_graded_and_recorded_without_a_newer_timestamp(cycle: Cycle) -> None:
    module = cycle.root / "submitted" / "wrong2" / "jax" / "scaling.py"
    right = cycle.root / "submitted" / "right0" / "jax" / "scaling.py"
    kept = module.read_bytes()
    shutil.copyfile(right, module)
    cycle.course.autograde()
    assert cycle.scores()["wrong2"] == cycle.scores()["right0"]
    module.write_bytes(kept)
    cycle.course.autograde()
    assert cycle.scores()["wrong2"] == cycle.scores()["wrong0"]


def mark_answer(cycle: Cycle, student: str, points: float, comment: str) -> None:
    with cycle.gradebook() as gradebook:
        grade = gradebook.find_grade("answer-EXPLANATION", "shifting", "jax", student)
        grade.manual_score = points
        grade.needs_manual_grade = False
        gradebook.find_comment(
            "answer-EXPLANATION", "shifting", "jax", student
        ).manual_comment = comment
        gradebook.db.commit()


def test_manual_marks_survive_a_regrade_by_nbgrader_alone(cycle: Cycle) -> None:
    mark_answer(cycle, "answering", 3.5, "Nearly.")
    before = cycle.scores()["answering"]
    shutil.rmtree(cycle.root / "graded")  # nothing is recorded: it grades by itself
    cycle.course.nbgrader("autograde", "jax", "--student", "answering", "--force")
    with cycle.gradebook() as gradebook:
        grade = gradebook.find_grade("answer-EXPLANATION", "shifting", "jax", "answering")
        assert grade.manual_score == 3.5
    assert cycle.scores()["answering"] == before


def test_feedback_is_our_page_with_the_written_answer(cycle: Cycle) -> None:
    mark_answer(cycle, "answering", 3.5, f"Nearly. <script>{CANARY}</script>")
    cycle.course.nbgrader("generate_feedback", "jax", "--force")
    pages = sorted((cycle.root / "feedback").rglob("*.html"))
    assert len(pages) == 2 * len(cycle.students)
    for path in pages:
        text = path.read_text()
        assert "<script" not in text
        assert "<img" not in text
        assert "secretly" not in text
        assert "It adds, and" not in text
    page = (cycle.root / "feedback" / "answering" / "jax" / "shifting.html").read_text()
    assert "19.5 of 20 points" in page
    assert "Nearly." in page
    wrong = (cycle.root / "feedback" / "wrong0" / "jax" / "scaling.html").read_text()
    assert "the factor is added" in wrong
    assert "What is twice two?" in wrong


def test_exports_hold_everybody_and_leave_empty_what_is_not_marked(cycle: Cycle) -> None:
    mark_answer(cycle, "answering", 3.5, "Nearly.")
    exporter = "grader.course.export."
    cycle.course.nbgrader("export")
    for name in ("ItemExport", "CanvasExport", "MoodleExport"):
        cycle.course.nbgrader("export", "--exporter", exporter + name)
    stock = rows(cycle.root / "grades.csv", "student_id")
    assert set(stock) == cycle.students | {UNREADABLE}
    assert stock["answering"]["score"] == "39.5"
    items = rows(cycle.root / "items.csv", "student")
    assert set(items) == cycle.students | {UNREADABLE}
    assert items["answering"]["points"] == "39.5"
    assert items["answering"]["shifting/hidden-01"] == "8.75"
    assert items["right0"]["points"] == ""
    assert items["stub"]["points"] == "0"
    assert items[UNREADABLE]["scaling/hidden-01"] == ""
    canvas = rows(cycle.root / "canvas.csv", "Student")
    assert canvas["    Points Possible"]["jax"] == "40"
    assert canvas["doejane"]["ID"] == "4711"
    assert canvas["answering"]["jax"] == "39.5"
    moodle = rows(cycle.root / "moodle.csv", "Full name")
    assert moodle["Zoë Ångström"]["Identifier"] == "Participant 815"


def test_the_time_in_a_files_name_makes_a_submission_late(cycle: Cycle) -> None:
    with cycle.gradebook() as gradebook:
        gradebook.update_or_create_assignment("jax", duedate="2026-11-02 10:30:00")
    cycle.course.configure("c.LateByRate.per_day = 0.1")
    cycle.course.nbgrader("autograde", "jax", "--student", "jdoe", "--force")
    with cycle.gradebook() as gradebook:
        submission = gradebook.find_submission("jax", "jdoe")
        assert submission.total_seconds_late == 86_400
        assert submission.late_submission_penalty == pytest.approx(3.6)
        assert gradebook.find_submission("jax", "right0").late_submission_penalty == 0
