"""Grading on a cluster: an executor on `dask.distributed`.

The course's repository, at the same version, and its packages must be there on each machine. Each
thread of a Dask worker keeps a warm `Child` of its own, so that a submission which kills the
process that grades it leaves the Dask worker standing. What a lost machine was grading, Dask gives
to another.
"""

from __future__ import annotations

import importlib
import socket
import threading
import time
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from typing import Any
from urllib.parse import urlsplit

import msgspec

from grader.batch import machine
from grader.batch.executors import ExecutorError
from grader.batch.tasks import Answer, Lost, Task, Unfit
from grader.batch.worker import Child, Settings, WorkerLost

CONNECT_SECONDS = 20.0
WORKER_SECONDS = 20.0
QUEUE_SECONDS = 3600.0
"""How long jobs may wait in a cluster's queue."""
_LOOK_SECONDS = 1.0

_children: dict[tuple[str, int], Child] = {}
"""On a Dask worker: the grading process of each of its threads, by run."""


class DaskExecutor:
    """Grades on the workers of a Dask scheduler; workers may come and go meanwhile."""

    def __init__(self, scheduler: str, workers: int | None, settings: Settings) -> None:
        """Connects.

        Args:
          scheduler: the address of one that runs, or `slurm` to start workers as jobs of Slurm, as
            `~/.config/dask/jobqueue.yaml` describes them.
          workers: how many jobs to start.
          settings: how tasks are graded.

        Raises:
          ExecutorError: there is no scheduler, or it has no workers.
        """
        self._run = settings.run
        self._settings = msgspec.msgpack.encode(settings)
        self._tasks: dict[str, Task] = {}
        self._submitted = 0
        self._unfit: set[str] = set()
        self._looked = float("-inf")
        self._threads: dict[str, int] = {}
        self._open = ExitStack()
        try:
            self._client = self._connect(scheduler, workers)
        except BaseException:
            self._open.close()
            raise
        self._done = _distributed().as_completed(loop=self._client.loop)

    @property
    def workers(self) -> int:
        """How many tasks the cluster takes at the same time."""
        return max(1, sum(self._fit().values()))

    @property
    def timing(self) -> int:
        """On how many machines time can be measured."""
        return max(1, len({urlsplit(address).hostname for address in self._fit()}))

    def submit(self, task: Task) -> None:
        self._submitted += 1
        future = self._client.submit(
            answer,
            self._settings,
            msgspec.msgpack.encode(task),
            key=f"jaxlings-{self._run}-{self._submitted}",
            priority=int(task.timing),
            workers=list(self._fit()) if self._unfit else None,
        )
        self._tasks[future.key] = task
        self._done.add(future)

    def next(self) -> Answer:
        future = next(self._done)
        task = self._tasks.pop(future.key)
        try:
            address, data = future.result()
        except _distributed().scheduler.KilledWorker as error:
            reason = f"{error.last_worker.address} was lost"
            return Lost(content=task.content, exercise=task.exercise, reason=reason)
        except CancelledError as error:
            raise ExecutorError("the scheduler is gone; go on with --resume") from error
        except Exception as error:  # whatever went wrong on the way
            raise ExecutorError(
                f"a Dask worker failed ({type(error).__name__}: {error}); "
                "is the same version of the course installed there?"
            ) from error
        found: Answer = msgspec.msgpack.decode(data, type=Answer)
        if isinstance(found, Unfit):
            self._unfit.add(address)
        return found

    def excludes(self, answer: Unfit) -> bool:
        self._looked = float("-inf")
        return bool(self._fit())

    def close(self) -> None:
        with suppress(Exception):  # a scheduler that is gone need not be told
            self._client.run(hang_up, self._run)
        self._open.close()

    def _connect(self, scheduler: str, workers: int | None) -> Any:
        """The client; what it needs closed goes to `_open`."""
        address: Any = scheduler
        if scheduler == "slurm":
            address = self._open.enter_context(_slurm(workers or 1))
        else:
            _knock(scheduler)
        try:
            client = self._open.enter_context(
                _distributed().Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise ExecutorError(
                f"there is no scheduler at {scheduler}; check the address"
            ) from error
        try:
            client.wait_for_workers(1, QUEUE_SECONDS if scheduler == "slurm" else WORKER_SECONDS)
        except TimeoutError as error:
            raise ExecutorError(
                f"the scheduler at {scheduler} has no workers; start some: dask worker {scheduler}"
            ) from error
        return client

    def _fit(self) -> dict[str, int]:
        """The workers that may grade, and how many threads each has."""
        if time.monotonic() - self._looked > _LOOK_SECONDS:
            self._threads = dict(self._client.nthreads())
            self._looked = time.monotonic()
        return {name: count for name, count in self._threads.items() if name not in self._unfit}


def answer(settings: bytes, task: bytes) -> tuple[str, bytes]:
    """On a Dask worker: grades a task; returns the worker's address and the answer."""
    wanted = msgspec.msgpack.decode(settings, type=Settings)
    todo = msgspec.msgpack.decode(task, type=Task)
    place = wanted.run, threading.get_ident()
    try:
        child = _children.get(place) or Child(wanted)
        _children[place] = child
        found = child.ask(todo)
    except WorkerLost as error:
        _children.pop(place).close()
        found = Lost(content=todo.content, exercise=todo.exercise, reason=str(error))
    return _distributed().get_worker().address, msgspec.msgpack.encode(found)


def hang_up(run: str) -> None:
    """On a Dask worker: ends the grading processes of a run."""
    for place in [place for place in _children if place[0] == run]:
        _children.pop(place).close()
    machine.forget(run)


def _knock(scheduler: str) -> None:
    """Raises `ExecutorError` where nobody listens; Dask's client says so late and at length."""
    try:
        place = _distributed().comm.get_address_host_port(scheduler)
        socket.create_connection(place, timeout=CONNECT_SECONDS).close()
    except (OSError, ValueError, TypeError) as error:
        raise ExecutorError(f"there is no scheduler at {scheduler}; check the address") from error


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ExecutorError(
            "--scheduler needs Dask; install it: pip install 'jaxlings[cluster]'"
        ) from error
    return distributed


def _slurm(jobs: int) -> Any:
    try:
        jobqueue = importlib.import_module("dask_jobqueue")
    except ImportError as error:
        raise ExecutorError(
            "--scheduler slurm needs dask-jobqueue; install it: pip install dask-jobqueue"
        ) from error
    cluster = jobqueue.SLURMCluster()
    cluster.scale(jobs=jobs)
    return cluster
