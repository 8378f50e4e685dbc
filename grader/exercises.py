"""What exercises there are and what their items are worth, read from the graded tests."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
POINTS = 20.0
"""What each exercise is worth, items and written answers together."""


@dataclass(frozen=True)
class Exercise:
    """Declared as `EXERCISE` in `tests/visible/test_NAME.py`.

    Attributes:
      order: where it stands in the course.
      title: what a person calls it.
      hints: from a nudge to nearly the idea.
      manual: points of answers that a person marks, by the name of the module's attribute.
    """

    order: int
    title: str
    hints: tuple[str, ...]
    manual: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Item:
    """One graded test.

    Attributes:
      title: the property that it shows, as a statement.
      points: what it is worth.
      hint: the next thought for one whose code fails it.
      seconds: wall-clock limit.
      timing: it measures time, and must not run beside other work.
    """

    title: str
    points: float
    hint: str
    seconds: float = 30.0
    timing: bool = False


@dataclass(frozen=True)
class GradedTest:
    """An item and where it stands."""

    exercise: str
    name: str
    hidden: bool
    item: Item


def names(root: Path = ROOT) -> list[str]:
    """The exercises' names, those of their modules, in alphabetical order."""
    found = (root / "tests" / "visible").glob("test_*.py")
    return sorted(path.stem.removeprefix("test_") for path in found)


def catalogue(root: Path = ROOT) -> dict[str, Exercise]:
    """The exercises by name, in the order of the course."""
    found = {name: _module("visible", name, root).EXERCISE for name in names(root)}
    return dict(sorted(found.items(), key=lambda pair: (pair[1].order, pair[0])))


def graded_tests(name: str, root: Path = ROOT) -> list[GradedTest]:
    """The items of one exercise, visible ones first, in the order of their files."""
    found = []
    for folder in ("visible", "hidden"):
        if (root / "tests" / folder / f"test_{name}.py").is_file():
            for attribute, value in vars(_module(folder, name, root)).items():
                if isinstance(item := getattr(value, "item", None), Item):
                    found.append(GradedTest(name, attribute, folder == "hidden", item))
    return found


@cache
def is_timing(name: str) -> bool:
    """Whether an exercise has items that measure time."""
    return any(test.item.timing for test in graded_tests(name))


def has_hidden_tests(root: Path = ROOT) -> bool:
    """Whether this copy holds the tests that students do not have."""
    return any((root / "tests" / "hidden").glob("test_*.py"))


def _module(folder: str, name: str, root: Path) -> ModuleType:
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return importlib.import_module(f"tests.{folder}.test_{name}")
