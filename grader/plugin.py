"""The pytest plugin: `@item`, the `student` and `rng` fixtures, and outcomes turned into items.

It is found by itself in a plain `pytest tests/visible`; `grading.grade` passes its own `Run`.
"""

from __future__ import annotations

import functools
import hashlib
import os
import secrets
import sys
import time
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import pytest

from grader.checks import CheckFailed
from grader.exercises import ROOT, Exercise, GradedTest, Item, is_timing
from grader.ingest import Submission, ingest
from grader.launch import GraderError, Launcher, deadline_in
from grader.report.clean import clean
from grader.report.model import KNOWN_MISTAKE, ItemResult, Outcome
from grader.student import Connection, Student, StudentFault

__all__ = ["Exercise", "Item", "Run", "item"]

# Wall-clock limits, stretched where other work keeps the cores from the student's.
EXERCISE_SECONDS = 120.0
SECONDS_AFTER_TIMEOUT = 10.0
MAX_STRETCH = 6.0
MAX_DETAIL_LINES = 120
HIDDEN_MESSAGE = "A hidden test did not pass."

Test = TypeVar("Test", bound=Callable[..., None])


def item(
    title: str, *, points: float, hint: str, seconds: float = 30.0, timing: bool = False
) -> Callable[[Test], Test]:
    """Makes a test function a graded item (see `grader.exercises.Item`)."""

    def mark(test: Test) -> Test:
        test.item = Item(title, float(points), hint, seconds, timing)  # type: ignore[attr-defined]
        return test

    return mark


class Worker(Connection, Protocol):
    """A process that runs a student's module, in a folder of its own."""

    directory: str


class StartWorker(Protocol):
    """How a run gets a worker; see `Launcher.start`."""

    def __call__(self, *, timing: bool) -> Worker: ...


class Run:
    """One submission being graded: its modules, its workers, and the verdicts so far."""

    def __init__(
        self,
        submission: Submission,
        start: StartWorker | None,
        seed: int | None = None,
        on_item: Callable[[GradedTest, ItemResult], None] | None = None,
        folder: Path | None = None,
    ) -> None:
        """`start` starts a worker; without it the modules of `folder` run in this process."""
        self.submission = submission
        self.seed = secrets.randbits(63) if seed is None else seed
        self.results: dict[str, list[ItemResult]] = {}
        self.seconds: dict[str, float] = {}
        self.environment: dict[str, str] = {}
        self._start = start
        self._folder = folder
        self._on_item = on_item
        self._students: dict[str, Student] = {}
        self._timeouts: dict[str, int] = {}

    def student(self, test: GradedTest) -> Student:
        """The proxy of the exercise's module, ready for `test`.

        Raises:
          StudentFault: there is no module, or the exercise's time is used up.
          GraderError: no worker can be started.
        """
        name = test.exercise
        if name in self.submission.problems:
            raise StudentFault(
                "failed", f"{name}.py was refused: {self.submission.problems[name]}."
            )
        if name not in self.submission.modules:
            raise StudentFault(
                "failed", f"{name}.py is missing: the file belongs in the folder that is graded."
            )
        stretch = _stretch()
        if self.seconds.get(name, 0.0) > EXERCISE_SECONDS * stretch:
            raise StudentFault("timeout", "The time of the exercise was used up by earlier tests.")
        if name not in self._students:
            for other in self._students.values():
                other.close()
            self._students[name] = self.proxy(name)
        student = self._students[name]
        seconds = test.item.seconds
        if self._timeouts.get(name):
            seconds = min(seconds, SECONDS_AFTER_TIMEOUT)
        student.prepare()
        student.begin(deadline_in(seconds * stretch))
        return student

    def proxy(self, name: str) -> Student:
        """The functions of a module of the submission, no worker started yet."""
        return Student(name, self._files(), functools.partial(self._connect, name))

    def rng(self, test: GradedTest) -> np.random.Generator:
        """Random numbers that differ from run to run and from item to item."""
        text = f"{self.seed}/{test.exercise}/{test.name}".encode()
        return np.random.default_rng(list(hashlib.sha256(text).digest()))

    def record(self, test: GradedTest, error: BaseException | None) -> ItemResult:
        """The verdict on an item from what its test raised (None: it passed)."""
        outcome, message, detail = _verdict(error)
        if outcome == "timeout":
            self._timeouts[test.exercise] = self._timeouts.get(test.exercise, 0) + 1
        if test.hidden and outcome in ("failed", "error", "timeout", "crashed"):
            message, detail = HIDDEN_MESSAGE, f"{message}\n{detail}".rstrip()
        result = ItemResult(
            name=test.name,
            title=test.item.title,
            hidden=test.hidden,
            points=test.item.points if outcome == "passed" else 0.0,
            max_points=test.item.points,
            outcome=outcome,
            message=clean(message),
            detail=clean(detail, MAX_DETAIL_LINES),
        )
        self.results.setdefault(test.exercise, []).append(result)
        if self._on_item:
            self._on_item(test, result)
        return result

    def close(self) -> None:
        for student in self._students.values():
            student.close()

    def _files(self) -> dict[str, bytes]:
        """What lies in the worker's folder: the submission's modules beside the given one."""
        if self._start is None:
            return {}  # they run where they are
        files = {f"{module}.py": text for module, text in self.submission.modules.items()}
        return files | {"mnist_mlp.py": (ROOT / "exercises" / "mnist_mlp.py").read_bytes()}

    def _connect(self, name: str) -> tuple[Connection, str]:
        if self._start is None:
            from grader.debug import InProcess

            connection = InProcess()
            return connection, str(self._folder)
        worker = self._start(timing=is_timing(name))
        reply = worker.request({"do": "environment"}, deadline_in(EXERCISE_SECONDS))
        if not self.environment:
            if "value" not in reply:
                raise GraderError(f"JAX finds no device: {reply}; run `make setup`")
            self.environment = reply["value"]
        return worker, worker.directory


_RUN = pytest.StashKey[Run]()
_TEST = pytest.StashKey[GradedTest]()
_STARTED = pytest.StashKey[float]()


class RunPlugin:
    """Hands a `Run` of the caller's to pytest."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[_RUN] = self._run


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("jaxlings", "JAX exercises")
    group.addoption("--submission", default=None, help="folder with the modules (exercises/)")
    group.addoption(
        "--in-process",
        action="store_true",
        help="import the modules in this process, for print() and breakpoint(); makes no verdict",
    )
    group.addoption("--seed", type=int, default=None, help="repeat the random inputs of a run")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Finds the graded items and brings each exercise's together: visible first, then hidden."""
    for test in items:
        graded = getattr(getattr(test, "function", None), "item", None)
        if isinstance(graded, Item):
            name = test.path.stem.removeprefix("test_")
            hidden = test.path.parent.name == "hidden"
            test.stash[_TEST] = GradedTest(name, test.name, hidden, graded)
    order = {name: number for number, name in enumerate(_in_order(items))}

    def place(test: pytest.Item) -> tuple[int, bool]:
        graded = test.stash.get(_TEST, None)
        return (order[graded.exercise], graded.hidden) if graded else (-1, False)

    items.sort(key=place)
    if order and _RUN not in config.stash:
        config.stash[_RUN] = _plain_run(config, list(order))


def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[_STARTED] = time.monotonic()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, None]:
    outcome = yield
    test = item.stash.get(_TEST, None)
    if test is None or call.when == "teardown" or (call.when == "setup" and not call.excinfo):
        return
    run = item.config.stash[_RUN]
    elapsed = time.monotonic() - item.stash[_STARTED]
    run.seconds[test.exercise] = run.seconds.get(test.exercise, 0.0) + elapsed
    report: pytest.TestReport = outcome.get_result()
    error = call.excinfo.value if call.excinfo else None
    result = run.record(test, error)
    if error is not None and result.outcome != "ungraded":
        lines = [result.message, f"Hint: {test.item.hint}"]
        report.longrepr = "\n".join([*lines, "", result.detail] if not test.hidden else lines)


def pytest_unconfigure(config: pytest.Config) -> None:
    if run := config.stash.get(_RUN, None):
        run.close()
    if launcher := config.stash.get(_LAUNCHER, None):
        launcher.close()


@pytest.fixture
def student(request: pytest.FixtureRequest) -> Student:
    """The module under test; its functions run in a worker."""
    test = request.node.stash[_TEST]
    return request.config.stash[_RUN].student(test)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random inputs: fresh in each run, repeatable with `--seed`."""
    return request.config.stash[_RUN].rng(request.node.stash[_TEST])


_LAUNCHER = pytest.StashKey[Launcher]()


def _plain_run(config: pytest.Config, exercises: list[str]) -> Run:
    """The run of a plain `pytest tests/visible`, which shows but does not record a verdict."""
    from grader.sandbox import choose

    path = Path(config.getoption("submission") or ROOT / "exercises")
    submission = ingest(path, exercises)
    if config.getoption("in_process"):
        return Run(submission, None, config.getoption("seed"), folder=path)

    def start(*, timing: bool) -> Worker:
        if _LAUNCHER not in config.stash:
            config.stash[_LAUNCHER] = Launcher(choose("auto"))
        return config.stash[_LAUNCHER].start(timing=timing)

    return Run(submission, start, config.getoption("seed"))


def _stretch() -> float:
    """How many processes want each core, at least 1: what a time limit is multiplied by."""
    if not hasattr(os, "getloadavg"):
        return 1.0
    return min(MAX_STRETCH, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


def _in_order(items: list[pytest.Item]) -> list[str]:
    """The exercises' names among `items`, in the order of the course."""
    orders: dict[str, int] = {}
    for test in items:
        graded = test.stash.get(_TEST, None)
        if graded:
            visible = sys.modules.get(f"tests.visible.test_{graded.exercise}")
            declared = getattr(visible, "EXERCISE", None)
            orders[graded.exercise] = declared.order if declared else 1000
    return sorted(orders, key=lambda name: (orders[name], name))


def _verdict(error: BaseException | None) -> tuple[Outcome, str, str]:
    """The outcome, the message for the student and the detail for the instructor."""
    trace = _trace(error) if error else ""
    match error:
        case None:
            return "passed", "", ""
        case StudentFault():
            return error.outcome, error.message, error.detail
        case CheckFailed():
            known = f"{KNOWN_MISTAKE}{error.mistake}\n" if error.mistake else ""
            return "failed", error.message, known + trace
        case AssertionError():
            return "failed", str(error).splitlines()[0] if str(error) else "", trace
        case GraderError():
            return "ungraded", str(error), trace
        case _:
            reason = f"{type(error).__name__}: {error}"
            return "ungraded", f"The grader failed on this item ({reason[:300]}).", trace


def _trace(error: BaseException) -> str:
    """The traceback of an exception, as far as it runs through the kit's own files."""
    own = (str(ROOT / "grader"), str(ROOT / "tests"))
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(own)
    ]
    return "".join([*traceback.format_list(frames), *traceback.format_exception_only(error)])
