"""Where tasks are graded: processes of this machine, or a cluster."""

from __future__ import annotations

import queue
import threading
from collections import deque
from typing import Protocol

from grader.batch import machine
from grader.batch.tasks import Answer, Lost, Task, Unfit
from grader.batch.worker import Child, Settings, WorkerLost


class ExecutorError(Exception):
    """Tasks cannot be graded there at all; the message is one line that names the next step."""


class Executor(Protocol):
    """Grades tasks in any order and hands back one answer for each.

    Attributes:
      workers: how many tasks are graded at the same time.
      timing: how many of the tasks that measure time it can make use of; on each machine they are
        graded one after the other.
    """

    @property
    def workers(self) -> int: ...

    @property
    def timing(self) -> int: ...

    def submit(self, task: Task) -> None: ...

    def next(self) -> Answer:
        """Waits for an answer. Raises `ExecutorError` when none will come."""
        ...

    def excludes(self, answer: Unfit) -> bool:
        """Gives the machine that answered no more tasks; False if there is no other."""
        ...

    def close(self) -> None:
        """Drops what was not answered yet and ends every process."""


class LocalExecutor:
    """Worker processes of this machine, each with a thread that talks with it.

    Tasks that measure time go first, one at a time: they are what everything waits for in the end.
    """

    timing = 2  # one is graded, one waits

    def __init__(self, workers: int, settings: Settings) -> None:
        self.workers = workers
        self._settings = settings
        self._changed = threading.Condition()
        self._timing: deque[Task] = deque()
        self._others: deque[Task] = deque()
        self._is_timing = False
        self._closed = False
        self._children: set[Child] = set()
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, task: Task) -> None:
        with self._changed:
            (self._timing if task.timing else self._others).append(task)
            self._changed.notify()

    def next(self) -> Answer:
        return self._answers.get()

    def excludes(self, answer: Unfit) -> bool:
        return False

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for child in self._children:
                child.hang_up()
        for thread in self._threads:
            thread.join()
        machine.forget(self._settings.run)

    def _work(self) -> None:
        """Keeps one worker process alive and busy."""
        child: Child | None = None
        while task := self._take():
            try:
                child = child or self._start()
                answer = child.ask(task)
            except (WorkerLost, OSError) as error:
                answer = Lost(content=task.content, exercise=task.exercise, reason=str(error))
                if child:
                    self._end(child)
                    child = None
            with self._changed:
                self._is_timing = self._is_timing and not task.timing
                self._changed.notify()
            self._answers.put(answer)
        if child:
            self._end(child)

    def _take(self) -> Task | None:
        """The next task, as soon as there is one; None when there will be no more."""
        with self._changed:
            while not self._closed:
                if self._timing and not self._is_timing:
                    self._is_timing = True
                    return self._timing.popleft()
                if self._others:
                    return self._others.popleft()
                self._changed.wait()
        return None

    def _start(self) -> Child:
        child = Child(self._settings)
        with self._changed:
            self._children.add(child)
            if self._closed:
                child.hang_up()
        return child

    def _end(self, child: Child) -> None:
        with self._changed:
            self._children.remove(child)
        child.close()
