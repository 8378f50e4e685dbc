"""What Gradescope and GitHub Classroom are handed."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from grader import exercises as course
from grader import gradescope
from grader.exercises import ROOT
from grader.launch import GraderError
from grader.report import classroom
from grader.report.model import ExerciseResult, ItemResult, Outcome, Report, to_json


def item(name: str, outcome: Outcome, *, hidden: bool = False) -> ItemResult:
    return ItemResult(
        name=name,
        title=f"{name} works",
        hidden=hidden,
        points=1.5 if outcome == "passed" else 0.0,
        max_points=1.5,
        outcome=outcome,
        message="" if outcome == "passed" else "it is \x1b[31mwrong",
        detail="the hidden input was 42",
    )


def report(*items: ItemResult) -> Report:
    result = ExerciseResult(
        points=sum(i.points for i in items),
        max_points=sum(i.max_points for i in items),
        seconds=2.5,
        items=list(items),
    )
    return Report(
        submission="ann",
        points=result.points,
        max_points=result.max_points,
        environment={"jax": "0.10", "seed": "1234567"},
        exercises={"dropout": result},
    )


MIXED = report(item("one", "passed"), item("two", "failed"), item("three", "failed", hidden=True))


def results(of: Report, **hints: str) -> dict[str, Any]:
    named = {("dropout", name): hint for name, hint in hints.items()}
    found: dict[str, Any] = json.loads(gradescope.results(of, course.catalogue(), named))
    return found


class TestGradescopeResults:
    def test_points_are_floats_and_add_up(self) -> None:
        found = results(MIXED)

        assert found["score"] == 1.5
        assert [(t["score"], t["max_score"]) for t in found["tests"]] == [
            (1.5, 1.5),
            (0.0, 1.5),
            (0.0, 1.5),
        ]
        assert all(isinstance(t["score"], float) for t in found["tests"])
        assert [t["status"] for t in found["tests"]] == ["passed", "failed", "failed"]

    def test_hidden_items_show_when_marks_are_published(self) -> None:
        visibilities = [test["visibility"] for test in results(MIXED)["tests"]]

        assert visibilities == ["visible", "visible", "after_published"]
        assert results(MIXED)["stdout_visibility"] == "hidden"

    def test_says_nothing_that_students_must_not_see(self) -> None:
        text = gradescope.results(MIXED, course.catalogue()).decode()

        assert "42" not in text
        assert "1234567" not in text
        assert "\\u001b" not in text

    def test_a_hint_with_what_a_student_can_see(self) -> None:
        one, two, three = results(MIXED, one="A", two="B", three="C")["tests"]

        assert one["output"] == ""
        assert two["output"] == "it is wrong\nHint: B"
        assert "C" not in three["output"]

    def test_numbers_follow_the_course(self) -> None:
        assert [test["number"] for test in results(MIXED)["tests"]] == ["1.1", "1.2", "1.3"]

    def test_ungraded_is_no_zero(self) -> None:
        found = results(report(item("one", "passed"), item("two", "ungraded")))

        assert "score" not in found
        assert "score" not in found["tests"][1]
        assert "could not be graded" in found["output"]


class TestAutograder:
    @pytest.fixture(scope="class", name="archive")
    @classmethod
    def build_archive(cls, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
        path = tmp_path_factory.mktemp("gradescope") / "deep" / "autograder.zip"
        gradescope.build(path)
        return zipfile.ZipFile(path)

    def test_scripts_are_at_the_top_and_executable(self, archive: zipfile.ZipFile) -> None:
        for name in ("setup.sh", "run_autograder"):
            assert archive.getinfo(name).external_attr >> 16 & 0o111 == 0o111
            checked = subprocess.run(["bash", "-n"], input=archive.read(name), check=False)
            assert checked.returncode == 0

    def test_runs_with_the_sandbox_that_was_asked_for(self, tmp_path: Path) -> None:
        gradescope.build(tmp_path / "a.zip", sandbox="auto")
        script = zipfile.ZipFile(tmp_path / "a.zip").read("run_autograder")

        assert b"--sandbox auto" in script

    def test_holds_no_solution(self, archive: zipfile.ZipFile) -> None:
        names = archive.namelist()
        assert not [name for name in names if "solutions" in name or "zoo" in name]
        solutions = {path.read_bytes() for path in (ROOT / "solutions").glob("*.py")}
        assert not [name for name in names if archive.read(name) in solutions]

    def test_holds_what_grading_needs(self, archive: zipfile.ZipFile, tmp_path: Path) -> None:
        archive.extractall(tmp_path)
        listed = subprocess.run(
            [
                *(sys.executable, "-c"),
                "from grader import exercises as e;"
                "print([len(e.graded_tests(name)) for name in e.catalogue()])",
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )

        assert listed.stdout.strip() == str(
            [len(course.graded_tests(name)) for name in course.catalogue()]
        )

    def test_equal_courses_give_equal_zips(self, tmp_path: Path) -> None:
        gradescope.build(tmp_path / "a.zip")
        gradescope.build(tmp_path / "b.zip")

        assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()

    def test_cannot_be_built_from_a_students_kit(self, tmp_path: Path) -> None:
        with pytest.raises(GraderError, match="no hidden tests"):
            gradescope.build(tmp_path / "a.zip", root=tmp_path)


class TestClassroom:
    def decode(self, of: Report) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(base64.b64decode(classroom.encode(of)))
        return found

    def test_scores_add_up_to_the_points(self) -> None:
        found = self.decode(MIXED)

        assert sum(test["score"] for test in found["tests"]) == MIXED.points
        assert found["max_score"] == MIXED.max_points
        assert [test["status"] for test in found["tests"]] == ["pass", "fail", "fail"]
        assert found["status"] == "fail"

    @pytest.mark.parametrize(
        ("outcome", "status"), [("passed", "pass"), ("failed", "fail"), ("ungraded", "error")]
    )
    def test_status_of_the_whole(self, outcome: Outcome, status: str) -> None:
        assert self.decode(report(item("one", outcome)))["status"] == status

    def test_from_a_results_file(self, tmp_path: Path) -> None:
        (tmp_path / "results.json").write_bytes(to_json(MIXED))
        done = subprocess.run(
            [sys.executable, "-m", "grader.report.classroom", tmp_path / "results.json"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )

        assert done.stdout == classroom.encode(MIXED) + "\n"
