"""Every command that the README shows is run: here, by a test named here, or by `.ci/run`."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

RUN_BY_CI = {"make test", "make verify", "make lint"}
RUN_BY_A_TEST = {
    "make stubs": "test_kit.py::test_writing_makes_the_stubs_and_touches_only_what_changed",
    "make data": "test_mnist_mlp.py::test_the_script_says_a_failed_download_in_one_line",
    "make batch DIR=submitted": (
        "test_make.py::test_targets_are_one_call_with_what_was_passed_through"
    ),
    "make autograde": "test_make.py::test_targets_are_one_call_with_what_was_passed_through",
    ".venv/bin/python exercises/mnist_mlp.py": (
        "test_mnist_mlp.py::test_the_script_prints_the_lessons_table"
    ),
}
FAILS = 2  # the status of a make whose command failed
RUN_HERE = {
    # The command: its exit status, and what it prints.
    "make": (0, r"make grade"),
    "make grade": (FAILS, r"Total +0 / 96"),
    "make grade X=dropout": (FAILS, r"Total +0 / 20"),
    "make grade DIR=solutions": (0, r"Total +96 / 96"),
    "make hint X=dropout": (0, r"Hint \d of \d"),
    "make report": (FAILS, r"Total +0 / 96"),
    "make bench": (FAILS, r"ten training steps"),
    "make doctor": (0, r"Python"),
    "make submit": (0, r"submission\.zip"),
    "make release": (0, r"build/release"),
    ".venv/bin/python -m grader grade solutions --json build/result.json": (0, r"Total +96 / 96"),
    ".venv/bin/python exercises/dropout.py": (1, r"compare_dropout is not written yet"),
    ".venv/bin/python -m pytest tests/visible": (1, r"\d+ failed"),
    ".venv/bin/python -m pytest tests/visible/test_dropout.py --in-process": (1, r"\d+ failed"),
}
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands(document: str) -> set[str]:
    """Those in console blocks, and those in the text."""
    blocks = re.findall(r"^```console\n(.*?)^```", document, re.MULTILINE | re.DOTALL)
    shown = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    return {*shown, *re.findall(r"`(make(?: [^`]*)?)`", document)}


def test_the_readme_shows_no_command_that_is_never_run():
    watched = {"make watch"}  # by a test of its own, below
    assert commands(README) == RUN_BY_CI | RUN_BY_A_TEST.keys() | RUN_HERE.keys() | watched


def test_what_others_run_is_really_there():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    for command in RUN_BY_CI:
        assert any(f"{line} ".startswith(f"{command} ") for line in script), command
    for test in RUN_BY_A_TEST.values():
        file, name = test.split("::")
        assert f"def {name}(" in (ROOT / "tests" / "grader" / file).read_text(encoding="utf-8")


def test_every_file_that_the_readme_mentions_exists():
    for name in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / name).is_file(), name
    for name in re.findall(r"`([\w/]+(?:\.(?:html|md|py|zip)|/))`", README):
        made = name.startswith("build/") or name == "submission.zip"
        assert made or (ROOT / name).exists() or (ROOT / "exercises" / name).exists(), name


def here(command: str) -> str:
    """The command with the Python that runs this test, whether set up by `make` or not."""
    command = command.replace(".venv/bin/python", sys.executable)
    return re.sub(r"^make\b", f"make -o .venv/.ready RUN={sys.executable}", command)


@pytest.mark.slow
def test_watching_begins_at_once_and_ends_when_asked():
    watching = subprocess.Popen(
        here("make watch"),
        shell=True,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert "Watching" in watching.stdout.readline()
    finally:
        os.killpg(watching.pid, signal.SIGINT)
        watching.communicate(timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("command", RUN_HERE)
def test_a_command_does_what_the_readme_says(command):
    status, expected = RUN_HERE[command]
    result = subprocess.run(here(command), shell=True, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == status, result.stdout + result.stderr
    assert re.search(expected, result.stdout + result.stderr), result.stdout + result.stderr
