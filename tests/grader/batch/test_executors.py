"""Worker processes of this machine: answers, crashes, the slot for timing, and a clean end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from grader.batch import tasks, worker
from grader.batch.executors import LocalExecutor
from grader.batch.tasks import Answer, Lost, Task, Unfit, Verdict, canary
from grader.batch.worker import Child, Settings, WorkerLost
from tests.grader.batch import fake

FAKE = "tests.grader.batch.fake:Grader"


def settings(tmp_path: Path, **changed: str) -> Settings:
    tasks.rules.cache_clear()  # somebody may be editing the tests meanwhile
    known = {"run": tmp_path.name, "rules": tasks.rules(), "grader": FAKE} | changed
    return Settings(sandbox="off", **known)  # type: ignore[arg-type]


def task(source: str, exercise: str = "dropout", *, timing: bool = False) -> Task:
    modules = {exercise: source.encode()}
    return Task(content=source, exercise=exercise, modules=modules, problems={}, timing=timing)


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test has its own markers of what is proven on this machine, and its own log."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv(fake.LOG, str(tmp_path / "log"))
    return tmp_path / "log"


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    with Child(settings(tmp_path)) as child:
        yield child


class Span(NamedTuple):
    """When something was graded."""

    exercise: str
    source: str
    begin: float
    end: float

    def overlaps(self, other: Span) -> bool:
        return self.begin < other.end and other.begin < self.end


def spans(log: Path) -> list[Span]:
    lines = [line.split("\t") for line in log.read_text().splitlines()]
    return [Span(exercise, source, float(a), float(b)) for exercise, source, a, b in lines]


def processes(of: int) -> list[str]:
    """The command lines of a process's children that still run."""
    listed = subprocess.run(
        ["ps", "-o", "args=", "--ppid", str(of)], capture_output=True, text=True, check=False
    )
    return [line for line in listed.stdout.splitlines() if "grader.batch.worker" in line]


class TestChild:
    def test_answers_with_a_verdict(self, child: Child) -> None:
        answer = child.ask(task("right"))

        assert isinstance(answer, Verdict)
        assert answer.graded
        assert answer.result.points == 20
        assert answer.environment["backend"] == "cpu"

    def test_grades_the_reference_solution_once_before_anything_else(
        self, child: Child, tmp_path: Path, log: Path
    ) -> None:
        child.ask(task("right"))
        child.ask(task("wrong"))
        with Child(settings(tmp_path)) as other:
            other.ask(task("half"))

        assert [span.source[1:6] for span in spans(log)] == ['"""Ex', "right", "wrong", "half'"]

    def test_gives_the_verdict_on_the_reference_solution(self, child: Child) -> None:
        answer = child.ask(canary("dropout"))

        assert isinstance(answer, Verdict)
        assert answer.result.points == answer.result.max_points

    def test_a_crash_is_told(self, child: Child) -> None:
        with pytest.raises(WorkerLost, match="exit status 9"):
            child.ask(task("crash"))

    def test_a_grader_that_fails_loses_the_task_not_the_process(self, child: Child) -> None:
        assert isinstance(child.ask(task("broken")), Lost)
        assert isinstance(child.ask(task("right")), Verdict)

    def test_no_answer_in_time(self, child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
        child.ask(task("right"))
        monkeypatch.setattr(worker, "ANSWER_SECONDS", 0.2)

        with pytest.raises(WorkerLost, match="no answer"):
            child.ask(task("sleep 60"))

    def test_other_tests_on_the_machine_make_it_unfit(self, tmp_path: Path) -> None:
        with Child(settings(tmp_path, rules="others")) as child:
            answer = child.ask(task("right"))

        assert isinstance(answer, Unfit)
        assert "update them" in answer.reason

    def test_a_reference_solution_that_fails_makes_it_unfit(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(fake.BROKEN, "1")
        with Child(settings(tmp_path)) as child:
            answers = [child.ask(task("right")), child.ask(task("right"))]

        for answer in answers:
            assert isinstance(answer, Unfit)
            assert "the reference solution loses dropout/test_" in answer.reason

    def test_ends_when_whoever_started_it_is_killed(self, tmp_path: Path) -> None:
        code = f"""
import os, signal, sys, threading, time
from pathlib import Path
from typing import NamedTuple
from grader.batch.worker import Child
from tests.grader.batch.test_executors import settings, task
child = Child(settings(Path({str(tmp_path)!r})))
child.ask(task("right"))
print(child._process.pid, flush=True)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGKILL)).start()
child.ask(task("sleep 60"))
"""
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert done.returncode == -9, done.stderr

        deadline = time.monotonic() + 10
        while (alive := Path(f"/proc/{int(done.stdout)}").exists()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not alive


class TestLocalExecutor:
    @pytest.fixture
    def executor(self, tmp_path: Path) -> Iterator[LocalExecutor]:
        executor = LocalExecutor(2, settings(tmp_path))
        yield executor
        executor.close()
        assert not processes(os.getpid())

    def answers(self, executor: LocalExecutor, *todo: Task) -> dict[str, Answer]:
        for one in todo:
            executor.submit(one)
        found = [executor.next() for _ in todo]
        return {one.content: one for one in found}

    def test_every_task_is_answered_though_workers_die(self, executor: LocalExecutor) -> None:
        found = self.answers(
            executor, *(task(source) for source in ("right", "crash", "wrong", "crash 2", "half"))
        )

        assert {content: type(one) for content, one in found.items()} == {
            "right": Verdict,
            "crash": Lost,
            "wrong": Verdict,
            "crash 2": Lost,
            "half": Verdict,
        }

    def test_time_is_measured_one_at_a_time_while_the_rest_goes_on(
        self, executor: LocalExecutor, log: Path
    ) -> None:
        timing = [task(f"sleep 0.4 {n}", "jit_benchmark", timing=True) for n in range(2)]
        others = [task(f"sleep 0.2 {n}") for n in range(4)]
        self.answers(executor, canary("dropout"), canary("jit_benchmark"))
        log.unlink()
        found = self.answers(executor, *timing, *others)

        assert {type(answer) for answer in found.values()} == {Verdict}
        first, second = (span for span in spans(log) if span.exercise == "jit_benchmark")
        assert not first.overlaps(second)
        beside = [span for span in spans(log) if span.overlaps(first) or span.overlaps(second)]
        assert len(beside) > 2

    def test_a_loss_of_time_is_confirmed_alone(
        self, executor: LocalExecutor, log: Path, tmp_path: Path
    ) -> None:
        timing = task(f"noisy {tmp_path}/seen", "jit_benchmark", timing=True)
        others = [task(f"sleep 0.2 {n}") for n in range(6)]
        self.answers(executor, canary("dropout"), canary("jit_benchmark"))
        log.unlink()
        found = self.answers(executor, timing, *others)

        assert {type(answer) for answer in found.values()} == {Verdict}
        verdict = found[timing.content]
        assert isinstance(verdict, Verdict)
        assert verdict.result.points == verdict.result.max_points
        *_, last = (span for span in spans(log) if span.exercise == "jit_benchmark")
        assert not any(span.overlaps(last) for span in spans(log) if span != last)

    def test_closes_at_once_in_the_middle_of_a_task(self, tmp_path: Path) -> None:
        executor = LocalExecutor(1, settings(tmp_path))
        executor.submit(task("right"))
        executor.next()
        executor.submit(task("sleep 60"))
        time.sleep(0.3)
        begun = time.monotonic()
        executor.close()

        assert time.monotonic() - begun < 10
        assert not processes(os.getpid())
