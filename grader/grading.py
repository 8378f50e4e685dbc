"""`grade(submission) -> Report`: the only way in which a verdict is made."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from grader import exercises as course
from grader.exercises import ROOT, GradedTest
from grader.ingest import Submission, ingest
from grader.launch import GraderError, Launcher, deadline_in
from grader.pictures import Picture, picture
from grader.plugin import Run, RunPlugin
from grader.report.model import ExerciseResult, ItemResult, Report
from grader.sandbox import Mode, choose
from grader.standing import StandingWorkers

PICTURE_SECONDS = 60.0

OnItem = Callable[[GradedTest, ItemResult], None]


class Grader:
    """Grades submissions one after the other, its zygote staying warm between them."""

    def __init__(
        self, sandbox: Mode = "auto", cache: Path | None = None, *, standing: bool = False
    ) -> None:
        """Starts the process that workers are forked from.

        Args:
          cache: a folder for compiled programs that workers may write, for trusted code only.
          standing: a worker may serve several gradings, for one student's code only.

        Raises:
          SandboxUnavailable: `sandbox` asks for more than this machine has.
        """
        self._launcher = Launcher(choose(sandbox), cache=cache)
        self._standing = StandingWorkers(self._launcher) if standing else None
        self.warnings = self._launcher.sandbox.warnings
        self.sandbox = self._launcher.sandbox.name

    def grade(
        self,
        submission: Path | Submission,
        *,
        exercises: Sequence[str] | None = None,
        hidden: bool = True,
        only: Sequence[GradedTest] | None = None,
        seed: int | None = None,
        on_item: OnItem | None = None,
    ) -> Report:
        """The verdict on a submission, a folder or a zip.

        Args:
          exercises: names of those to be graded; None means all.
          hidden: whether hidden tests run where they are present.
          only: of those, the tests to run; None means all. The report is on nothing else.
          seed: repeats the random inputs of an earlier run (its report's environment names it).
          on_item: is called with each item's result as it becomes known.

        Raises:
          IngestError: there is nothing to read at `submission`.
          GraderError: an exercise is unknown, or the graded tests cannot be collected.
        """
        known = list(course.catalogue())
        chosen = list(exercises or known)
        if unknown := [name for name in chosen if name not in known]:
            raise GraderError(f"no exercise is called {unknown[0]}; there are {', '.join(known)}")
        if not isinstance(submission, Submission):
            submission = ingest(submission, known)
        start = (self._standing or self._launcher).start
        run = Run(submission, start, seed, on_item)
        tests = {name: _graded_tests(name, hidden, only) for name in chosen}
        with _quietly():
            status = pytest.main(_arguments(tests, only is None), plugins=[RunPlugin(run)])
        if status == pytest.ExitCode.INTERRUPTED:
            raise KeyboardInterrupt
        return _report(submission.name, tests, run, self._environment(run), int(status))

    def pictures(
        self, submission: Submission, exercises: Sequence[str]
    ) -> dict[str, Picture | str]:
        """What the submission's own code does with real digits, by exercise.

        Raises:
          GraderError: no worker can be started, or the digits are not in the cache.
        """
        run = Run(submission, self._launcher.start)
        drawn = {}
        for name in exercises:
            if name in submission.modules:
                student = run.proxy(name)
                student.begin(deadline_in(PICTURE_SECONDS))
                found = picture(name, student)
                student.close()
                if found is not None:
                    drawn[name] = found
        return drawn

    def close(self) -> None:
        if self._standing:
            self._standing.close()
        self._launcher.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _environment(self, run: Run) -> dict[str, str]:
        machine = {"jax": "", "backend": "", "device": ""} | run.environment
        return machine | {
            "python": ".".join(map(str, sys.version_info[:3])),
            "sandbox": self._launcher.sandbox.name,
            "workers": self._launcher.mode,
            "seed": str(run.seed),
        }


@cache
def shared_grader(sandbox: Mode = "auto", cache: Path | None = None) -> Grader:
    """This process's grader of that kind: it stays warm, and is closed when the process ends."""
    grader = Grader(sandbox, cache)
    atexit.register(grader.close)
    return grader


def grade(
    submission: Path | Submission,
    *,
    exercises: Sequence[str] | None = None,
    hidden: bool = True,
    sandbox: Mode = "auto",
    seed: int | None = None,
    on_item: OnItem | None = None,
) -> Report:
    """The verdict on one submission; see `Grader.grade`."""
    with Grader(sandbox) as grader:
        return grader.grade(
            submission, exercises=exercises, hidden=hidden, seed=seed, on_item=on_item
        )


def _graded_tests(
    name: str, hidden: bool, only: Sequence[GradedTest] | None = None
) -> list[GradedTest]:
    return [
        test
        for test in course.graded_tests(name)
        if (hidden or not test.hidden) and (only is None or test in only)
    ]


def _arguments(tests: dict[str, list[GradedTest]], whole_files: bool) -> list[str]:
    chosen: list[str] = []
    for folder in ("visible", "hidden"):
        for name, group in tests.items():
            path = ROOT / "tests" / folder / f"test_{name}.py"
            wanted = [test.name for test in group if test.hidden == (folder == "hidden")]
            if whole_files and wanted:
                chosen.append(str(path))
            elif wanted:
                chosen += [f"{path}::{test}" for test in wanted]
    # No configuration, conftest or plugin but ours: a submission's folder can bring none along.
    return [
        *("-q", "--assert=plain", "--noconftest", f"--rootdir={ROOT}", f"-c{os.devnull}"),
        "--tb=no",  # pytest's own tracebacks parse whole files for each line; see plugin._trace
        *("-p", "no:cacheprovider", "-p", "grader.plugin", "-p", "pytest_benchmark.plugin"),
        *chosen,
    ]


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Pytest without a terminal, and without the plugins that happen to be installed."""
    before = (
        os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"),
        os.environ.pop("PYTEST_ADDOPTS", None),
    )
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        for name, value in zip(
            ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_ADDOPTS"), before, strict=True
        ):
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _report(
    name: str,
    tests: dict[str, list[GradedTest]],
    run: Run,
    environment: dict[str, str],
    status: int,
) -> Report:
    graded = {}
    for exercise, expected in tests.items():
        found = {(item.name, item.hidden): item for item in run.results.get(exercise, [])}
        items = [found.get((test.name, test.hidden)) or _not_run(test, status) for test in expected]
        graded[exercise] = ExerciseResult(
            points=sum(item.points for item in items),
            max_points=sum(item.max_points for item in items),
            seconds=round(run.seconds.get(exercise, 0.0), 3),
            items=items,
        )
    return Report(
        submission=name,
        points=sum(exercise.points for exercise in graded.values()),
        max_points=sum(exercise.max_points for exercise in graded.values()),
        environment=environment,
        exercises=graded,
    )


def _not_run(test: GradedTest, status: int) -> ItemResult:
    return ItemResult(
        name=test.name,
        title=test.item.title,
        hidden=test.hidden,
        points=0.0,
        max_points=test.item.points,
        outcome="ungraded",
        message=f"The grader did not reach this item (pytest's exit status {status}).",
        detail="",
    )
