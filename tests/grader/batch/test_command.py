"""`grader batch` as an instructor types it: real grading, on a course of one toy exercise."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests.grader.conftest import SOLUTION, Kit

WRONG = SOLUTION.replace("x * factor", "x + factor")
ENDLESS = SOLUTION.replace("return x * factor", "while True:\n        pass")
CRASHING = SOLUTION.replace("return x * factor", "import os\n    os.abort()")


@pytest.fixture
def submitted(tmp_path: Path) -> Path:
    """An honest class: right, copied, wrong, endless, crashing, and a broken zip."""
    folder = tmp_path / "submitted"
    sources = {
        "ann": SOLUTION,
        "ben": SOLUTION,
        "cy": WRONG,
        "dee": ENDLESS,
        "eve": CRASHING,
    }
    for student, source in sources.items():
        (folder / student).mkdir(parents=True)
        (folder / student / "scaling.py").write_text(source)
    with zipfile.ZipFile(folder / "fay.zip", "w") as archive:
        archive.writestr("homework/scaling.py", SOLUTION)
    return folder


def rows(out: Path) -> dict[str, dict[str, str]]:
    with open(out / "summary.csv", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.mark.slow
def test_everybody_gets_the_points_of_grading_alone(
    toy_kit: Kit, submitted: Path, tmp_path: Path
) -> None:
    done = toy_kit.run("batch", submitted, "--out", tmp_path / "out", "--sandbox", "auto")

    assert done.returncode == 0, done.stderr
    table = rows(tmp_path / "out")
    assert {student: row["points"] for student, row in table.items()} == {
        "ann": "20",
        "ben": "20",
        "cy": "4",
        "dee": "4",
        "eve": "4",
        "fay": "20",
    }
    for student in ("cy", "dee"):
        alone = toy_kit.grade(submitted / student, "--sandbox", "auto").results
        batch = json.loads((tmp_path / "out" / "results" / f"{student}.json").read_bytes())
        assert alone is not None
        assert batch["submission"] == alone["submission"] == student
        assert {i["name"]: i["outcome"] for i in batch["exercises"]["scaling"]["items"]} == {
            i["name"]: i["outcome"] for i in alone["exercises"]["scaling"]["items"]
        }
        assert batch["environment"]["jax"] == alone["environment"]["jax"]
    assert "ann" in done.stdout
    assert "20 / 20" in done.stdout
    assert not list(tmp_path.glob("jaxlings-*"))


def test_what_cannot_be_graded_is_one_line_and_exit_status_2(
    toy_kit: Kit, submitted: Path, tmp_path: Path
) -> None:
    (submitted / "gus.zip").write_bytes(b"no zip")
    for student in ("cy", "dee", "eve"):
        (submitted / student / "scaling.py").unlink()
    done = toy_kit.run("batch", submitted, "--out", tmp_path / "out", "--sandbox", "auto")

    assert done.returncode == 2
    assert "gus: gus.zip is not a zip that can be read" in done.stderr
    assert rows(tmp_path / "out")["gus"]["points"] == ""
    assert rows(tmp_path / "out")["ann"]["points"] == "20"
    assert rows(tmp_path / "out")["cy"]["points"] == "0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent", "--out", "out"], "absent does not exist"),
        ([".", "--out", "/proc/out"], "choose another --out"),
        ([".", "--out", "out", "--scheduler", "nonsense"], "check the address"),
    ],
)
def test_where_nothing_can_be_done_it_says_so_in_one_line(
    toy_kit: Kit, submitted: Path, arguments: list[str], message: str
) -> None:
    place = submitted / arguments[0]
    out = submitted.parent / arguments[2] if not arguments[2].startswith("/") else arguments[2]
    done = toy_kit.run("batch", place, "--out", out, *arguments[3:], "--sandbox", "auto")

    assert done.returncode == 2
    assert message in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr


def test_a_broken_machine_stops_before_any_student(
    toy_kit: Kit, submitted: Path, tmp_path: Path
) -> None:
    solution = toy_kit.root / "solutions" / "scaling.py"
    solution.write_text(WRONG)
    try:
        done = toy_kit.run("batch", submitted, "--out", tmp_path / "out", "--sandbox", "auto")
    finally:
        solution.write_text(SOLUTION)

    assert done.returncode == 2
    assert "the reference solution loses scaling/test_scale_multiplies here" in done.stderr
    assert not (tmp_path / "out" / "summary.csv").exists()


def running(root: Path) -> list[str]:
    """The command lines of processes that work for the kit at `root`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has just ended
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(root) in command:
                found.append(command)
    return found


def test_a_kill_in_the_middle_of_a_loop_leaves_nothing_behind(toy_kit: Kit, tmp_path: Path) -> None:
    (tmp_path / "submitted" / "ann").mkdir(parents=True)
    (tmp_path / "submitted" / "ann" / "scaling.py").write_text(ENDLESS)
    (tmp_path / "temp").mkdir(mode=0o755)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "grader", "batch", tmp_path / "submitted"),
            *("--out", tmp_path / "out", "--sandbox", "auto", "--workers", "1"),
        ],
        cwd=toy_kit.root,
        env={**os.environ, "PYTHONPATH": str(toy_kit.root), "TMPDIR": str(tmp_path / "temp")},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "1 different modules to grade\n"
    time.sleep(2)  # well within the loop
    process.kill()
    process.wait()

    deadline = time.monotonic() + 30
    while running(toy_kit.root) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert running(toy_kit.root) == []
    left = [path.name for path in (tmp_path / "temp").iterdir()]
    assert left in ([], [f"jaxlings-batch-{os.getuid()}"])
