"""What becomes of tasks whose workers die, and of machines that are unfit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import pytest

from grader.batch.engine import STRIKES, grade_all, prove
from grader.batch.executors import ExecutorError
from grader.batch.tasks import Answer, Lost, Task, Unfit, Verdict, ungraded
from grader.report.model import ExerciseResult, ItemResult


def task(content: str, *, timing: bool = False) -> Task:
    return Task(content=content, exercise="dropout", modules={}, problems={}, timing=timing)


def verdict(task: Task) -> Verdict:
    item = ItemResult(
        name="test_it",
        title="",
        hidden=False,
        points=1,
        max_points=1,
        outcome="passed",
        message="",
        detail="",
    )
    result = ExerciseResult(points=1, max_points=1, seconds=0, items=[item])
    return Verdict(
        content=task.content,
        exercise=task.exercise,
        result=result,
        environment={"jax": task.exercise},
    )


def lost(task: Task) -> Lost:
    return Lost(content=task.content, exercise=task.exercise, reason="signal 9")


def unfit(task: Task) -> Unfit:
    return Unfit(content=task.content, exercise=task.exercise, reason="no sandbox")


def failed(task: Task) -> Verdict:
    return Verdict(
        content=task.content,
        exercise=task.exercise,
        result=ungraded("dropout", "the grader failed"),
        environment={},
    )


class Scripted:
    """Answers each task in turn by a function of the task and of how often it came."""

    workers = 2
    timing = 1

    def __init__(self, answer: Callable[[Task, int], Answer], machines: int = 1) -> None:
        self._answer = answer
        self._machines = machines
        self._queue: deque[Task] = deque()
        self.asked: list[str] = []
        self.most = 0

    def submit(self, task: Task) -> None:
        self._queue.append(task)
        self.most = max(self.most, len(self._queue))

    def next(self) -> Answer:
        task = self._queue.popleft()
        self.asked.append(task.content)
        return self._answer(task, self.asked.count(task.content))

    def excludes(self, answer: Unfit) -> bool:
        self._machines -= 1
        return self._machines > 0

    def close(self) -> None:
        pass


def grade(executor: Scripted, *contents: str) -> dict[str, Verdict]:
    found = list(grade_all(executor, iter(map(task, contents)), iter([])))
    assert len(found) == len({one.content for one in found})
    return {one.content: one for one in found}


class TestGradeAll:
    def test_each_task_gets_its_verdict(self) -> None:
        found = grade(Scripted(lambda task, _: verdict(task)), *"abcdefgh")

        assert {content: one.graded for content, one in found.items()} == dict.fromkeys(
            "abcdefgh", True
        )

    def test_only_a_few_are_under_way_at_a_time(self) -> None:
        executor = Scripted(lambda task, _: verdict(task))
        grade(executor, *map(str, range(1000)))

        assert executor.most <= 2 * executor.workers

    @pytest.mark.parametrize("failure", [lost, failed])
    def test_a_lost_one_is_graded_again(self, failure: Callable[[Task], Answer]) -> None:
        executor = Scripted(
            lambda task, times: (
                failure(task) if task.content == "b" and times == 1 else verdict(task)
            )
        )
        found = grade(executor, "a", "b", "c")

        assert executor.asked.count("b") == 2
        assert all(one.graded for one in found.values())

    @pytest.mark.parametrize("failure", [lost, failed])
    def test_three_strikes_leave_it_ungraded_and_the_rest_graded(
        self, failure: Callable[[Task], Answer]
    ) -> None:
        executor = Scripted(lambda task, _: failure(task) if task.content == "b" else verdict(task))
        found = grade(executor, "a", "b", "c", "d")

        assert executor.asked.count("b") == STRIKES == 3
        assert [content for content, one in found.items() if not one.graded] == ["b"]
        assert found["b"].result.points == 0

    def test_a_machine_that_is_unfit_costs_no_strike(self) -> None:
        executor = Scripted(
            lambda task, times: unfit(task) if times <= 4 else verdict(task), machines=6
        )

        assert grade(executor, "a")["a"].graded

    def test_no_machine_left(self) -> None:
        with pytest.raises(ExecutorError, match="no sandbox"):
            grade(Scripted(lambda task, _: unfit(task), machines=2), "a", "b", "c")

    def test_timing_goes_beside_the_others_in_its_own_room(self) -> None:
        executor = Scripted(lambda task, _: verdict(task))
        timing = [task(f"t{number}", timing=True) for number in range(4)]
        list(grade_all(executor, iter(map(task, "abcdefgh")), iter(timing)))

        assert executor.most == 2 * executor.workers + 1
        first = [asked[0] for asked in executor.asked[: 2 * executor.workers + 1]]
        assert first.count("t") == 1


class TestProve:
    def test_returns_the_environment(self) -> None:
        executor = Scripted(lambda task, _: verdict(task))

        assert prove(executor, ["dropout", "clipping"]) == {"jax": "dropout"}
        assert executor.asked == ["", ""]

    def test_refuses_where_the_reference_solution_fails(self) -> None:
        with pytest.raises(ExecutorError, match="no submission was graded: no sandbox"):
            prove(Scripted(lambda task, _: unfit(task)), ["dropout"])

    def test_another_machine_may_do(self) -> None:
        executor = Scripted(
            lambda task, times: unfit(task) if times == 1 else verdict(task), machines=2
        )

        assert prove(executor, ["dropout"]) == {"jax": "dropout"}

    def test_gives_up_when_every_worker_dies(self) -> None:
        with pytest.raises(ExecutorError, match="signal 9"):
            prove(Scripted(lambda task, _: lost(task)), ["dropout"])
