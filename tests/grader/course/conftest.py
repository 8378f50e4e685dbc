"""A course of two toy exercises, and everything that nbgrader's own commands do with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.grader.conftest import HIDDEN, SOLUTION, VISIBLE, Kit

SHIFTING = '''"""Exercise 7: shifting.

Add to an array.

`shift(x, by)`
    The array `x` with `by` added.

`EXPLANATION`
    A string: why is this no scaling?
"""

import jax

### BEGIN SOLUTION
EXPLANATION = "Because it adds."
### END SOLUTION


def shift(x: jax.Array, by: float) -> jax.Array:
    """x plus by."""
    ### BEGIN SOLUTION
    return x + by
    ### END SOLUTION
'''

SHIFTING_VISIBLE = '''"""The visible tests of another toy exercise."""

import numpy as np

from grader.checks import array, close
from grader.plugin import Exercise, item

EXERCISE = Exercise(
    order=7, title="Shifting", hints=("Look.", "Think.", "Add."), manual={"EXPLANATION": 4.0}
)


@item("shift adds", points=7.25, hint="What is two more than two?", seconds=6)
def test_shift_adds(student, rng):
    x = rng.normal(size=(3, 4)).astype(np.float32)
    got = array(student.shift(x, 2.0), shape=(3, 4), dtype="float32", what="shift(x, 2.0)")
    close(got, x + np.float32(2), rtol=1e-6, atol=1e-6, what="shift(x, 2.0)")
'''

SHIFTING_HIDDEN = '''"""The hidden tests of another toy exercise."""

import numpy as np

from grader.checks import array, close
from grader.plugin import item


@item("shift goes down too", points=8.75, hint="What is a negative number?", seconds=6)
def test_secretly_shift_goes_down(student, rng):
    x = rng.normal(size=5).astype(np.float32)
    got = array(student.shift(x, -2.0), shape=(5,), dtype="float32", what="the result")
    close(got, x - np.float32(2), rtol=1e-6, atol=1e-6, what="the result")
'''

SOURCES = {"scaling.py": SOLUTION, "shifting.py": SHIFTING}


class Course:
    """A generated course of the toy kit."""

    def __init__(self, kit: Kit, root: Path) -> None:
        self.kit, self.root = kit, root
        made = kit.run("course", root)
        assert made.returncode == 0, made.stderr
        self.configure("c.Verdicts.sandbox = 'auto'", "c.FeedbackExporter.pictures = False")

    def configure(self, *lines: str) -> None:
        """Appends to the configuration, as an instructor would."""
        with (self.root / "nbgrader_config.py").open("a") as file:
            file.writelines(f"{line}\n" for line in lines)

    def nbgrader(self, *arguments: str, cwd: Path | None = None) -> str:
        """A command of nbgrader, which must succeed; returns what it said."""
        done = self._run("-m", "nbgrader", *arguments, cwd=cwd)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def autograde(self, status: int = 0) -> str:
        """`make autograde`."""
        done = self._run("-m", "grader.course.autograde", str(self.root))
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def _run(self, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        # The environment is not activated: its bin is not on the path.
        environment = {**os.environ, "PYTHONPATH": str(self.kit.root), "PATH": "/usr/bin:/bin"}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd or self.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="session")
def course_kit(tmp_path_factory: pytest.TempPathFactory) -> Kit:
    """A kit of `scaling` (20 points) and `shifting` (16, and 4 by hand)."""
    kit = Kit(tmp_path_factory.mktemp("kit"))
    kit.add("scaling", SOLUTION, VISIBLE, HIDDEN)
    kit.add("shifting", SHIFTING, SHIFTING_VISIBLE, SHIFTING_HIDDEN)
    return kit


@pytest.fixture(scope="session")
def released(course_kit: Kit, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course whose assignment is generated."""
    course = Course(course_kit, tmp_path_factory.mktemp("course"))
    course.nbgrader("generate_assignment", "jax")
    return course
