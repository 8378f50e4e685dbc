"""A batch's worker: a trusted process that keeps a warm grader and answers tasks.

It speaks over one socket with whoever started it (`Child`): a task comes in, an answer goes out. It
ends at once when the other side does, so that a batch that is killed leaves nothing running.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import Protocol, Self

import msgspec

from grader.batch import machine, tasks
from grader.batch.proof import loss
from grader.batch.tasks import Answer, Lost, Task, Unfit, Verdict
from grader.exercises import ROOT
from grader.ingest import IngestError, Submission, ingest
from grader.launch import GraderError
from grader.report.model import Report
from grader.sandbox import Mode, SandboxUnavailable, SelfTestError, choose, self_test

ANSWER_SECONDS = 600.0
"""How long a worker may take for one exercise: its limits of time, and a busy machine."""


class Grades(Protocol):
    """What a worker needs of a grader (`grader.grading.Grader`)."""

    def grade(self, submission: Submission, *, exercises: list[str]) -> Report: ...
    def close(self) -> None: ...


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a batch wants its workers.

    Attributes:
      run: names this run of the batch on every machine.
      sandbox: the mode that workers are confined in.
      rules: digest of the grader and the tests; a machine with others is unfit.
      grader: the class to grade with, `MODULE:NAME`, made with the mode.
    """

    run: str
    sandbox: Mode
    rules: str
    grader: str = "grader.grading:Grader"


class Examiner:
    """Grades tasks in this process, once the reference solution has shown that it can."""

    def __init__(self, settings: Settings) -> None:
        module, _, name = settings.grader.partition(":")
        self._settings = settings
        self._proofs: dict[str, Verdict | Unfit] = {}
        self._make: Callable[[Mode], Grades] = getattr(importlib.import_module(module), name)
        self._grader: Grades | None = None

    def answer(self, task: Task) -> Answer:
        """Grades a task; never raises for what a submission or a machine can do."""
        try:
            proof = self._proof(task)
            if isinstance(proof, Unfit):
                return msgspec.structs.replace(proof, content=task.content)
            if task.is_canary:
                return proof
            return self._grade(task, Submission(task.exercise, task.modules, task.problems))
        except SandboxUnavailable as error:
            return Unfit(content=task.content, exercise=task.exercise, reason=str(error))
        except GraderError as error:
            return Lost(content=task.content, exercise=task.exercise, reason=str(error))

    def close(self) -> None:
        if self._grader:
            self._grader.close()

    def _grade(self, task: Task, submission: Submission) -> Verdict:
        """Grades beside other work; what a busy machine may have spoilt is graded again alone."""
        if not task.timing:
            with machine.beside_others():
                return self._grade_now(task, submission)
        with machine.timing_slot():
            with machine.beside_others():
                verdict = self._grade_now(task, submission)
            if not tasks.lost_time(verdict):
                return verdict
            with machine.alone():
                return self._grade_now(task, submission)

    def _grade_now(self, task: Task, submission: Submission) -> Verdict:
        if self._grader is None:
            self._grader = self._make(self._settings.sandbox)
        report = self._grader.grade(submission, exercises=[task.exercise])
        return Verdict(
            content=task.content,
            exercise=task.exercise,
            result=report.exercises[task.exercise],
            environment=report.environment,
        )

    def _proof(self, task: Task) -> Verdict | Unfit:
        """What became of the reference solution: graded once an exercise, a machine and a run."""
        proof = self._proofs.get(task.exercise)
        if proof is None:
            with machine.held_file(f"{self._settings.run}-{task.exercise}") as file:
                if not (known := file.read_bytes()):
                    known = msgspec.msgpack.encode(self._canary(task))
                    file.write_bytes(known)
            proof = self._proofs[task.exercise] = msgspec.msgpack.decode(
                known, type=Verdict | Unfit
            )
        return proof

    def _canary(self, task: Task) -> Verdict | Unfit:
        unfit = partial(Unfit, content="", exercise=task.exercise)
        if self._settings.rules != tasks.rules():
            return unfit(reason="its grader or its tests differ from the batch's; update them")
        if self._settings.sandbox != "off" and (hole := _hole(self._settings.sandbox)):
            return unfit(reason=hole)
        try:
            reference = ingest(ROOT / "solutions", [task.exercise])
        except IngestError as error:
            return unfit(reason=f"there is no reference solution: {error}")
        verdict = self._grade(msgspec.structs.replace(task, content=""), reference)
        lost = loss(task.exercise, verdict.result)
        return unfit(reason=lost) if lost else verdict


def _hole(mode: Mode) -> str:
    """What the sandbox of this machine lets through that it should not; empty: nothing."""
    try:
        findings = self_test(choose(mode))
    except SelfTestError as error:
        return f"the sandbox does not start ({error}); see SECURITY.md, or use --sandbox off"
    holes = [finding.name for finding in findings if not finding.blocked]
    what = f"the sandbox does not stop: {', '.join(holes)}; see SECURITY.md, or use --sandbox off"
    return what if holes else ""


class WorkerLost(Exception):
    """The worker process died or did not answer; the message says which."""


class Child:
    """A worker process, seen from the batch."""

    def __init__(self, settings: Settings) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "grader.batch.worker", str(theirs.fileno())],
                cwd=ROOT,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._socket = ours
        self._connection = Connection(os.dup(ours.fileno()))
        self._send(settings)

    def ask(self, task: Task) -> Answer:
        """The answer to a task.

        Raises:
          WorkerLost: there is none; the process is dead.
        """
        try:
            self._send(task)
            if not self._connection.poll(ANSWER_SECONDS):
                raise WorkerLost(f"no answer within {ANSWER_SECONDS:.0f} s")
            return msgspec.msgpack.decode(self._connection.recv_bytes(), type=Answer)
        except (OSError, EOFError) as error:
            raise WorkerLost(f"its process ended ({self._ended()})") from error
        except msgspec.MsgspecError as error:
            raise WorkerLost("its answer was garbled") from error

    def hang_up(self) -> None:
        """Makes the process end and a waiting `ask` raise; any thread may call it."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Ends the process and all that it started."""
        self.hang_up()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._connection.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _send(self, message: Settings | Task) -> None:
        self._connection.send_bytes(msgspec.msgpack.encode(message))

    def _ended(self) -> str:
        try:
            status = self._process.wait(5)
        except subprocess.TimeoutExpired:
            return "it closed its connection"
        return f"signal {-status}" if status < 0 else f"exit status {status}"


def serve(connection: Connection) -> None:
    """Answers tasks until the other side is gone; then ends the process, whatever it is doing."""
    waiting: queue.Queue[bytes] = queue.Queue()
    examiner = Examiner(msgspec.msgpack.decode(connection.recv_bytes(), type=Settings))

    def listen() -> None:
        try:
            while True:
                waiting.put(connection.recv_bytes())
        except (EOFError, OSError):
            pass  # the batch is over, or was killed
        try:
            examiner.close()
        finally:
            os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        task = msgspec.msgpack.decode(waiting.get(), type=Task)
        connection.send_bytes(msgspec.msgpack.encode(examiner.answer(task)))


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
