"""The Makefile, run in a folder of its own with a Python that only writes down what it is asked."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Logs each call as one line, an argument in <> each; makes the environment when asked to; fails
# where the file `fail` holds a part of the call.
PYTHON = """\
#!/bin/sh
call=$(printf '<%s>' "$@")
echo "$call" >> calls
while read -r part; do
    case "$call" in *"$part"*) echo "a long traceback" >&2; exit 1 ;; esac
done < fail
case "$*" in "-m venv --clear .venv") mkdir -p .venv/bin; cp -p "$0" .venv/bin/python ;; esac
"""


def environment() -> dict[str, str]:
    """The variables but for what a make that runs these tests was given itself."""
    given = {"X", "DIR", "OUT", "ARGS", "N", "SAMPLE"}
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MAKE", "MFLAGS")) and name not in given
    }


class Folder:
    """A copy of the project's frame: what `make` reads, and nothing it could run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        for name in ("Makefile", "instructor.mk", "requirements.lock", "pyproject.toml"):
            (path / name).write_bytes((ROOT / name).read_bytes())
        self.python = path.parent / "python"
        self.python.write_text(PYTHON)
        self.python.chmod(0o755)
        self.fail("")

    def fail(self, part: str) -> None:
        """From now on, calls that hold `part` fail."""
        (self.path / "fail").write_text(f"{part}\n" if part else "")

    def make(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        (self.path / "calls").write_text("")
        return subprocess.run(
            ["make", "--no-print-directory", *arguments, f"PYTHON={self.python}"],
            cwd=self.path,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self) -> list[str]:
        return (self.path / "calls").read_text().splitlines()


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "my kit")


@pytest.fixture
def ready(folder):
    assert folder.make("setup").returncode == 0
    return folder


def test_make_alone_lists_every_target_with_a_line_and_does_nothing(folder):
    result = folder.make()
    assert result.returncode == 0
    listed = [line.split(maxsplit=2) for line in result.stdout.splitlines()]
    assert all(word == "make" and text for word, _, text in listed)
    phony = [
        target
        for name in ("Makefile", "instructor.mk")
        for line in (ROOT / name).read_text().splitlines()
        if line.startswith(".PHONY:")
        for target in line.split()[1:]
    ]
    assert [target for _, target, _ in listed] == phony
    assert folder.calls() == []


def test_setting_up_installs_the_lock_and_then_is_skipped(folder):
    assert folder.make("setup").returncode == 0
    installs = [call for call in folder.calls() if "<install>" in call]
    assert "<--require-hashes><-r><requirements.lock>" in installs[0]
    assert installs[1].endswith("<-e><.>")
    assert folder.calls()[-1] == "<-m><grader><warm>"
    again = folder.make("setup")
    assert again.returncode == 0
    assert folder.calls() == []


def test_a_changed_lock_is_set_up_anew(ready):
    later = (ready.path / ".venv" / ".ready").stat().st_mtime + 10
    os.utime(ready.path / "requirements.lock", (later, later))
    ready.make("grade")
    assert "<-m><venv><--clear><.venv>" in ready.calls()


@pytest.mark.parametrize(
    ("part", "line"),
    [
        ("version_info", "jaxlings needs Python 3.11 or later: make grade PYTHON=python3.12"),
        ("ensurepip", "Python lacks its venv module: sudo apt-get install python3-venv"),
    ],
)
def test_a_python_that_will_not_do_is_one_line_with_the_next_step(folder, part, line):
    folder.fail(part)
    result = folder.make("grade")
    assert result.returncode != 0
    said = [text for text in result.stderr.splitlines() if not text.startswith("make: ***")]
    assert [text for text in said if text != "a long traceback"] == [line]
    assert not (folder.path / ".venv").exists()


def test_a_cache_that_cannot_be_filled_does_not_stop_a_setup(folder):
    folder.fail("<warm>")
    assert folder.make("grade").returncode == 0
    assert folder.calls()[-1] == "<-m><grader><grade>"


@pytest.mark.parametrize("part", ["<--require-hashes>", "<-e>"])
def test_a_setup_that_was_cut_short_is_made_again(folder, part):
    folder.fail(part)
    assert folder.make("grade").returncode != 0
    assert not any("<grade>" in call for call in folder.calls())
    folder.fail("")
    assert folder.make("grade").returncode == 0
    assert any("<install>" in call for call in folder.calls())
    assert folder.calls()[-1] == "<-m><grader><grade>"


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        (["grade"], "<-m><grader><grade>"),
        (["grade", "X=dropout"], "<-m><grader><grade><-x><dropout>"),
        (
            ["grade", "X=dropout clipping", "DIR=../my work"],
            "<-m><grader><grade><../my work><-x><dropout><-x><clipping>",
        ),
        (["grade", "ARGS=--json 'my result.json'"], "<-m><grader><grade><--json><my result.json>"),
        (["data"], "<exercises/mnist_mlp.py><--download>"),
        (["verify"], "<-m><grader><verify><--zoo>"),
        (["verify", "SAMPLE=6"], "<-m><grader><verify><--zoo><--sample><6>"),
        (["test"], "<-m><pytest><-m><not slow>"),
        (["test", "ARGS=-k kit"], "<-m><pytest><-m><not slow><-k><kit>"),
        (["testall"], "<-m><pytest>"),
        (["stubs"], "<-m><grader><stubs>"),
        (["batch"], "<-m><grader><batch><submitted><--out><build/batch>"),
        (
            ["batch", "DIR=of may", "OUT=marks of may", "ARGS=--workers 2"],
            "<-m><grader><batch><of may><--out><marks of may><--workers><2>",
        ),
        (["course"], "<-m><grader><course><build/course>"),
        (
            ["autograde", "DIR=../my course", "ARGS=--workers 2"],
            "<-m><grader.course.autograde><../my course><--workers><2>",
        ),
        (["mutants", "X=dropout"], "<-m><tests.instruments.mutants><-x><dropout>"),
        (["flake", "N=3"], "<-m><tests.instruments.flake><--runs><3>"),
        (
            ["bench", "DIR=../my work"],
            "<-m><pytest><benchmarks><--submission><../my work><--quiet>"
            "<--benchmark-storage=build/benchmarks><--benchmark-autosave><--benchmark-compare>"
            "<--benchmark-columns=median,iqr,rounds><--benchmark-sort=name>",
        ),
    ],
)
def test_targets_are_one_call_with_what_was_passed_through(ready, arguments, call):
    assert ready.make(*arguments).returncode == 0
    assert ready.calls() == [call]


def test_a_failure_of_the_command_is_a_failure_of_make(ready):
    ready.fail("<grade>")
    assert ready.make("grade").returncode != 0


def test_make_works_from_another_folder(ready, tmp_path):
    result = subprocess.run(
        ["make", "-C", str(ready.path), "grade", "X=dropout"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert result.returncode == 0
    assert ready.calls()[-1] == "<-m><grader><grade><-x><dropout>"
