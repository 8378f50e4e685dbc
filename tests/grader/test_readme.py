"""Every command that the README shows is run: here, by a test named here, or by `.ci/run`."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

RUN_BY_CI = {"make test", "make verify", "make lint"}
RUN_BY_A_TEST = {
    "make stubs": "test_kit.py::test_writing_makes_the_stubs_and_touches_only_what_changed",
    ".venv/bin/python exercises/mnist_mlp.py": (
        "test_mnist_mlp.py::test_the_script_prints_the_lessons_table"
    ),
}
RUN_HERE = {
    # The command: its exit status, and what it prints.
    "make grade": (2, r"\b0 of 96\b"),
    "make grade X=dropout": (2, r"\b0 of 20\b"),
    "make grade X=dropout DIR=../elsewhere": (2, r"elsewhere"),
    "make grade DIR=solutions": (0, r"\b96 of 96\b"),
    "make bench": (2, r"ten training steps"),
    ".venv/bin/python -m grader grade solutions --json build/result.json": (0, r"\b96 of 96\b"),
    ".venv/bin/python exercises/dropout.py": (1, r"compare_dropout is not written yet"),
    ".venv/bin/python -m pytest tests/visible": (1, r"\d+ failed"),
    ".venv/bin/python -m pytest tests/visible/test_dropout.py --in-process": (1, r"\d+ failed"),
}


def commands(document: str) -> list[str]:
    blocks = re.findall(r"^```console\n(.*?)^```", document, re.MULTILINE | re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_shows_no_command_that_is_never_run():
    assert set(commands(README)) == RUN_BY_CI | RUN_BY_A_TEST.keys() | RUN_HERE.keys()


def test_what_others_run_is_really_there():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert RUN_BY_CI <= set(script)
    for test in RUN_BY_A_TEST.values():
        file, name = test.split("::")
        assert f"def {name}(" in (ROOT / "tests" / "grader" / file).read_text(encoding="utf-8")


def test_every_target_that_the_readme_mentions_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake ([a-z]+)\b", " ".join(re.findall(r"`[^`]+`", README))):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_file_that_the_readme_mentions_exists():
    for name in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / name).is_file(), name
    for name in re.findall(r"`([\w/]+(?:\.\w+|/))`", README):
        assert (ROOT / name).exists() or (ROOT / "exercises" / name).exists(), name


@pytest.mark.slow
@pytest.mark.parametrize("command", RUN_HERE)
def test_a_command_does_what_the_readme_says(command):
    status, expected = RUN_HERE[command]
    # With the Python that runs this test, set up or not.
    command = command.replace(".venv/bin/python", sys.executable)
    command = re.sub(r"^make ", f"make -o .venv/.ready RUN={sys.executable} ", command)
    result = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == status, result.stdout + result.stderr
    assert re.search(expected, result.stdout + result.stderr), result.stdout + result.stderr
