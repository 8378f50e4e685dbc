"""What travels between the batch and its workers, and when two verdicts are the same."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import msgspec

from grader import exercises as course
from grader.exercises import ROOT
from grader.ingest import Submission
from grader.report.model import ExerciseResult, ItemResult

# What can change no verdict: who calls the grader, and how its verdicts are shown.
_NO_PART_IN_VERDICTS = (
    "batch",
    "course",
    "report",
    "cli.py",
    "kit.py",
    "notebook.py",
    "watch.py",
    "gradescope.py",
)
_LIBRARIES = ("jax", "jaxlib", "numpy", "optax", "matplotlib", "pytest")


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One exercise of one submission, to be graded.

    Attributes:
      content: digest of all that the verdict may depend on in the submission.
      exercise: its name.
      modules: the sources, by module name.
      problems: why modules were refused.
      timing: some of its items measure time.
    """

    content: str
    exercise: str
    modules: dict[str, bytes]
    problems: dict[str, str]
    timing: bool = False

    @property
    def is_canary(self) -> bool:
        """Whether this asks for the reference solution's verdict on the machine that takes it."""
        return not self.content


class Verdict(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What a worker found out about a task."""

    content: str
    exercise: str
    result: ExerciseResult
    environment: dict[str, str]

    @property
    def graded(self) -> bool:
        """Whether every item has a verdict."""
        return all(item.outcome != "ungraded" for item in self.result.items)


class Lost(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The worker died, or did not answer in time; it may have been the submission's doing."""

    content: str
    exercise: str
    reason: str


class Unfit(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The machine must not grade: its sandbox, its tests or the reference solution failed there."""

    content: str
    exercise: str
    reason: str


Answer = Verdict | Lost | Unfit


def tasks(submission: Submission, names: Iterable[str]) -> list[Task]:
    """The tasks of a submission, one an exercise; a missing or refused module has one too."""
    return [_task(submission, name) for name in names]


def canary(exercise: str) -> Task:
    """Asks for the verdict on the reference solution."""
    return Task(
        content="", exercise=exercise, modules={}, problems={}, timing=course.is_timing(exercise)
    )


def _task(submission: Submission, exercise: str) -> Task:
    needed = _needed(submission, exercise)
    modules = {name: submission.modules[name] for name in needed if name in submission.modules}
    problems = {name: submission.problems[name] for name in needed if name in submission.problems}
    told = msgspec.msgpack.encode([exercise, modules, problems])
    content = hashlib.sha256(told).hexdigest()
    return Task(
        content=content,
        exercise=exercise,
        modules=modules,
        problems=problems,
        timing=course.is_timing(exercise),
    )


def _needed(submission: Submission, exercise: str) -> list[str]:
    """The module of an exercise and those of the student's others that it names, by name."""
    others = set(submission.modules) | set(submission.problems)
    needed, waiting = {exercise}, [exercise]
    while waiting:
        words = set(re.findall(rb"\w+", submission.modules.get(waiting.pop(), b"")))
        found = {name for name in others - needed if name.encode() in words}
        needed |= found
        waiting += found
    return sorted(needed)


def lost_time(verdict: Verdict) -> bool:
    """Whether an item that measures time was lost in a way that a busy machine can cause."""
    lost = {
        (item.name, item.hidden)
        for item in verdict.result.items
        if item.outcome in ("failed", "timeout")
    }
    return any(
        (test.name, test.hidden) in lost
        for test in course.graded_tests(verdict.exercise)
        if test.item.timing
    )


def ungraded(exercise: str, reason: str) -> ExerciseResult:
    """The result of an exercise that could not be graded."""
    items = [
        ItemResult(
            name=test.name,
            title=test.item.title,
            hidden=test.hidden,
            points=0.0,
            max_points=test.item.points,
            outcome="ungraded",
            message=reason,
            detail="",
        )
        for test in course.graded_tests(exercise)
    ]
    return ExerciseResult(
        points=0.0, max_points=sum(item.max_points for item in items), seconds=0.0, items=items
    )


@cache
def rules() -> str:
    """Digest of what makes verdicts on the grader's side: its code, the tests, the libraries."""
    files = [
        path
        for path in sorted((ROOT / "grader").rglob("*.py"))
        if path.relative_to(ROOT / "grader").parts[0] not in _NO_PART_IN_VERDICTS
    ]
    files += sorted((ROOT / "tests").glob("*.py")) + [ROOT / "exercises" / "mnist_mlp.py"]
    for folder in ("visible", "hidden", "mistakes"):
        files += sorted((ROOT / "tests" / folder).rglob("*.py"))
    parts: list[bytes] = []
    for path in files:
        parts += [path.relative_to(ROOT).as_posix().encode(), path.read_bytes()]
    return _digest([*parts, *(f"{name} {_version(name)}".encode() for name in _LIBRARIES)])


def setting(environment: Mapping[str, str]) -> str:
    """Digest of the rules and of the environment that they are applied in."""
    lasting = {name: value for name, value in environment.items() if name != "seed"}
    return _digest([rules().encode(), msgspec.json.encode(lasting, order="sorted")])


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "absent"


def _digest(parts: Iterable[bytes]) -> str:
    """Digest of a sequence, each part told apart from the next by its length."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8) + part)
    return digest.hexdigest()
