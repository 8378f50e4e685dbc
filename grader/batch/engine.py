"""From tasks that wait in the journal to verdicts in it, whatever happens to workers on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from grader.batch.executors import Executor, ExecutorError
from grader.batch.tasks import Lost, Task, Unfit, Verdict, canary, ungraded

STRIKES = 3
"""How often a task may lose its worker, or come back ungraded, before it is left ungraded."""


def prove(executor: Executor, exercises: Sequence[str]) -> dict[str, str]:
    """Grades the reference solution before any student's; returns the environment.

    Raises:
      ExecutorError: it does not get full marks, or cannot be graded.
    """
    waiting: Counter[str] = Counter()
    for exercise in exercises:
        executor.submit(canary(exercise))
    environment: dict[str, str] = {}
    for _ in range(len(exercises)):
        while not isinstance(answer := executor.next(), Verdict):
            waiting[answer.exercise] += 1
            given_up = isinstance(answer, Lost) and waiting[answer.exercise] == STRIKES
            if given_up or (isinstance(answer, Unfit) and not executor.excludes(answer)):
                raise ExecutorError(f"no submission was graded: {answer.reason}")
            executor.submit(canary(answer.exercise))
        environment = environment or answer.environment
    return environment


def grade_all(
    executor: Executor, tasks: Iterator[Task], timing: Iterator[Task]
) -> Iterator[Verdict]:
    """The verdicts on all `tasks`, and on those that measure time, as they become known.

    A task whose worker died is tried again, then left ungraded; the others go on.

    Raises:
      ExecutorError: there is nothing left to grade with.
    """
    waiting: dict[str, Task] = {}
    strikes: Counter[str] = Counter()
    while True:
        timed = sum(task.timing for task in waiting.values())
        for stream, room in (
            (timing, executor.timing - timed),
            (tasks, 2 * executor.workers - len(waiting) + timed),
        ):
            for task in islice(stream, max(room, 0)):
                waiting[task.content] = task
                executor.submit(task)
        if not waiting:
            return
        answer = executor.next()
        task = waiting[answer.content]
        if isinstance(answer, Unfit):
            if not executor.excludes(answer):
                raise ExecutorError(answer.reason)
            executor.submit(task)
            continue
        if not (isinstance(answer, Verdict) and answer.graded):
            strikes[answer.content] += 1
            if strikes[answer.content] < STRIKES:
                executor.submit(task)
                continue
        del waiting[answer.content]
        yield answer if isinstance(answer, Verdict) else _given_up(answer)


def _given_up(answer: Lost) -> Verdict:
    reason = f"The grader lost its worker {STRIKES} times on this module ({answer.reason})."
    return Verdict(
        content=answer.content,
        exercise=answer.exercise,
        result=ungraded(answer.exercise, reason),
        environment={},
    )
