"""The course's checks for a stock notebook: run in the kernel, beside the student's code.

Only the comparison of `benchmarks/batch.py` uses it. It is what this project exists to avoid: a
student's code could reach into it.
"""

from __future__ import annotations

import inspect
import os
import time
from functools import cache
from importlib import import_module

import numpy as np

from grader.debug import InProcess
from grader.student import Student


def check(exercise: str, folder: str, test: str) -> None:
    """Runs one item on the module beside the notebook; raises where it fails."""
    student = _student(exercise)
    student.prepare()
    student.begin(time.monotonic() + 30)
    function = getattr(import_module(f"tests.{folder}.test_{exercise}"), test)
    fixtures = {"student": student, "rng": np.random.default_rng()}
    function(**{name: fixtures[name] for name in inspect.signature(function).parameters})


@cache
def _student(exercise: str) -> Student:
    connection, folder = InProcess(), os.environ.get("SUBMISSION", os.getcwd())
    return Student(exercise, {}, lambda: (connection, folder))
