"""A kit of one toy exercise, in which every kind of submission can be graded in seconds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

SOLUTION = '''"""Exercise 6: scaling.

Multiply an array by a factor.
"""

import jax
import jax.numpy as jnp


def scale(x: jax.Array, factor: float) -> jax.Array:
    """x times factor."""
    ### BEGIN SOLUTION
    return x * factor
    ### END SOLUTION


def total(x: jax.Array) -> jax.Array:
    """The sum of x."""
    ### BEGIN SOLUTION
    return jnp.sum(x)
    ### END SOLUTION
'''

VISIBLE = '''"""The visible tests of a toy exercise."""

import numpy as np

from grader.checks import Mistake, array, close, scalar
from grader.plugin import Exercise, item

EXERCISE = Exercise(order=6, title="Scaling", hints=("Look.", "Think.", "Multiply."))


@item("scale multiplies", points=6, hint="What is twice two?", seconds=6)
def test_scale_multiplies(student, rng):
    x = rng.normal(size=(3, 4)).astype(np.float32)
    got = array(student.scale(x, 3.0), shape=(3, 4), dtype="float32", what="scale(x, 3.0)")
    added = Mistake("added", "the factor is added. What does scaling mean?", x + np.float32(3))
    close(got, 3 * x, rtol=1e-6, atol=0, what="scale(x, 3.0)", mistakes=[added])


@item("total adds up", points=4, hint="What is a sum?", seconds=6)
def test_total_adds_up(student, rng):
    x = rng.normal(size=(3, 4)).astype(np.float32)
    close(scalar(student.total(x), what="total(x)"), x.sum(dtype=np.float64), rtol=1e-5, atol=1e-5)
'''

HIDDEN = '''"""The hidden tests of a toy exercise."""

import numpy as np

from grader.checks import array, close
from grader.plugin import item
from grader.values import jit


@item("scale works under jit", points=10, hint="Is there Python control flow?", seconds=6)
def test_scale_under_jit(student, rng):
    x = rng.normal(size=(3, 4)).astype(np.float32)
    got = array(student.under(jit()).scale(x, 0.5), shape=(3, 4), dtype="float32")
    close(got, 0.5 * x, rtol=1e-6, atol=0)
'''


@dataclass(frozen=True)
class Graded:
    """A finished `grade`: its exit status, its output and its results file."""

    status: int
    stdout: str
    stderr: str
    results: dict[str, Any] | None

    def items(self) -> dict[str, dict[str, Any]]:
        assert self.results is not None, self.stderr
        return {
            item["name"]: item
            for exercise in self.results["exercises"].values()
            for item in exercise["items"]
        }


class Kit:
    """A copy of the grader with exercises of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("grader", "exercises/mnist_mlp.py"):
            source, target = ROOT / name, root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
        for folder in ("tests", "tests/visible", "tests/hidden"):
            (root / folder).mkdir(parents=True, exist_ok=True)
            (root / folder / "__init__.py").touch()
        (root / "solutions").mkdir()

    def add(self, name: str, solution: str, visible: str, hidden: str) -> None:
        """Adds an exercise: one solution and its two test files."""
        (self.root / "solutions" / f"{name}.py").write_text(solution)
        (self.root / "tests" / "visible" / f"test_{name}.py").write_text(visible)
        (self.root / "tests" / "hidden" / f"test_{name}.py").write_text(hidden)
        assert self.run("stubs").returncode == 0

    def run(
        self, *arguments: str | Path, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """`python -m grader ARGUMENTS` in this kit."""
        return subprocess.run(
            [sys.executable, "-m", "grader", *map(str, arguments)],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.root), **(environment or {})},
            capture_output=True,
            text=True,
            check=False,
        )

    def grade(self, submission: Path, *arguments: str) -> Graded:
        """`grade` with its results file."""
        results = submission.parent / f"{submission.name}.json"
        results.unlink(missing_ok=True)
        done = self.run("grade", submission, "--json", results, *arguments)
        found = json.loads(results.read_bytes()) if results.exists() else None
        return Graded(done.returncode, done.stdout, done.stderr, found)


@pytest.fixture(scope="session")
def toy_kit(tmp_path_factory: pytest.TempPathFactory) -> Kit:
    """A kit whose only exercise is `scaling`: 6 + 4 visible points, 10 hidden ones."""
    kit = Kit(tmp_path_factory.mktemp("kit"))
    kit.add("scaling", SOLUTION, VISIBLE, HIDDEN)
    return kit


@pytest.fixture
def grade_toy(toy_kit: Kit, tmp_path: Path) -> Callable[..., Graded]:
    """Grades a source as `scaling.py`."""

    def grade(source: str | bytes, *arguments: str) -> Graded:
        folder = tmp_path / "submission"
        folder.mkdir(exist_ok=True)
        data = source.encode() if isinstance(source, str) else source
        (folder / "scaling.py").write_bytes(data)
        return toy_kit.grade(folder, *arguments)

    return grade
