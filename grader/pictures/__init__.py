"""What a student's own code does with real digits, drawn for the report: a module an exercise.

A module here has `draw(student, digits) -> Picture`. It calls the student's functions in a worker,
as the tests do, checks what comes back and draws it on the trusted side. It is worth no points.
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass

import numpy as np

from grader.cache import cache_folder
from grader.checks import CheckFailed
from grader.launch import GraderError
from grader.student import Student, StudentFault

DIGITS = "mnist_5k.npy"


@dataclass(frozen=True)
class Picture:
    """An element of HTML or SVG, and what is to be read off it in a sentence."""

    element: str
    caption: str


@dataclass(frozen=True)
class Digits:
    """Real digits: images `(n, 784)` float32 in [0, 1], labels `(n,)` int32."""

    x: np.ndarray
    y: np.ndarray


def picture(exercise: str, student: Student) -> Picture | str | None:
    """The picture of an exercise, why there is none, or None where none is meant to be."""
    if importlib.util.find_spec(f"grader.pictures.{exercise}") is None:
        return None
    module = importlib.import_module(f"grader.pictures.{exercise}")
    try:
        drawn: Picture = module.draw(student, digits())
    except (StudentFault, CheckFailed) as error:
        return f"There is no picture yet: {error}"
    except (ArithmeticError, LookupError, TypeError, ValueError):
        # Odd values cost their own picture; the others' feedback goes on.
        return "There is no picture yet: what your code returns cannot be drawn."
    return drawn


def digits() -> Digits:
    """The embedded digits as the kit's own loader cached them.

    Raises:
      GraderError: the cache lacks them.
    """
    path = cache_folder() / DIGITS
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise GraderError(f"{path.name} is not in the cache; run `make setup`") from error
    by_class = np.argsort(found[:, -1], kind="stable").reshape(10, -1)
    found = found[by_class.T.ravel()]  # the classes alternate
    return Digits((found[:, :-1] / 255).astype(np.float32), found[:, -1].astype(np.int32))
