"""The instructor's manual: every command in it works, in its order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.exercises import ROOT
from tests.grader.conftest import SOLUTION, Kit
from tests.grader.course.conftest import SHIFTING, Course

pytestmark = pytest.mark.slow

MANUAL = (ROOT / "docs" / "nbgrader.md").read_text("utf-8")
# The server is test_formgrader's; the others only say where commands are typed.
ELSEWHERE = {"jupyter lab", "cd ../course", "source .venv/bin/activate"}


def commands() -> list[tuple[str, str]]:
    """Who types what: `$` or `student$`, and the command."""
    blocks = re.findall(r"```console\n(.*?)```", MANUAL, re.DOTALL)
    lines = [line.split(" ", 1) for block in blocks for line in block.splitlines()]
    return [(who, command) for who, command in lines]


def test_every_command_of_the_manual_works_in_its_order(course_kit: Kit, tmp_path: Path) -> None:
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    shared = [f"c.Exchange.root = {str(exchange)!r}", f"c.Exchange.cache = {str(tmp_path)!r}"]
    student = tmp_path / "student"
    student.mkdir()
    (student / "nbgrader_config.py").write_text("\n".join(["c = get_config()", *shared]))
    course: Course | None = None
    done = []
    for who, command in commands():
        if command == "make course DIR=../course":
            course = Course(course_kit, tmp_path / "course")
            course.configure(*shared)
        assert course is not None
        match command.split():
            case ["make", target, "DIR=../course"]:
                assert re.search(
                    rf"^{target}: ", (ROOT / "instructor.mk").read_text(), re.MULTILINE
                )
                if target == "autograde":
                    course.autograde()
            case ["nbgrader", *arguments] if who == "student$":
                if "submit" in arguments:
                    (student / "jax" / "scaling.py").write_text(SOLUTION)
                    (student / "jax" / "shifting.py").write_text(SHIFTING)
                course.nbgrader(*arguments, cwd=student)
            case ["nbgrader", *arguments]:
                if "zip_collect" in arguments:
                    folder = course.root / "downloaded" / "jax" / "archive" / "ada"
                    folder.mkdir(parents=True)
                    (folder / "scaling.py").write_text(SOLUTION)
                course.nbgrader(*arguments)
            case _:
                assert command in ELSEWHERE
        done.append(command)
    assert course is not None
    assert len(done) > 15
    with Gradebook(f"sqlite:///{course.root}/gradebook.db?timeout=60") as gradebook:
        scores = {s.student.id: s.score for s in gradebook.assignment_submissions("jax")}
    assert scores.pop("ada") == 20.0
    assert list(scores.values()) == [36.0]
    assert list(student.rglob("feedback/**/shifting.html"))
    for name in ("grades.csv", "items.csv", "canvas.csv", "moodle.csv"):
        assert "ada" in (course.root / name).read_text()


def test_the_pictures_of_the_manual_are_there() -> None:
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", MANUAL)
    assert len(pictures) == 4
    assert all((ROOT / "docs" / picture).is_file() for picture in pictures)
