"""A grader without JAX, for tests of everything around grading: a module's first word decides.

The reference solution starts with none of these words, so it gets full marks.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

from grader import exercises as course
from grader.batch.tasks import ungraded
from grader.ingest import Submission
from grader.launch import GraderError
from grader.report.model import ExerciseResult, ItemResult, Outcome, Report

LOG = "JAXLINGS_FAKE_LOG"
"""Names a file that gets a line for each module graded: what, and when it began and ended."""
BROKEN = "JAXLINGS_FAKE_BROKEN"
"""Where it is set, nothing gets any points."""


class Grader:
    def __init__(self, sandbox: str) -> None:
        self.sandbox = sandbox

    def grade(self, submission: Submission, *, exercises: list[str]) -> Report:
        (exercise,) = exercises
        if os.environ.get(BROKEN):
            return self._report(exercise, result(exercise, "wrong"))
        source = submission.modules.get(exercise, b"missing").decode(errors="replace")
        word, _, rest = (source.split("\n")[0] + " ").partition(" ")
        begun = time.monotonic()
        match word:
            case "crash":
                os._exit(9)
            case "crash-once" if not Path(rest.strip()).exists():
                Path(rest.strip()).touch()
                os._exit(9)
            case "sleep":
                seconds, _, word = rest.strip().partition(" ")
                time.sleep(float(seconds))
                word = word.split(" ")[0]
            case "noisy" if not Path(rest.strip()).exists():
                Path(rest.strip()).touch()
                word = "wrong"
            case "broken":
                raise GraderError("no worker could be started")
        graded = result(exercise, word)
        if log := os.environ.get(LOG):
            with open(log, "a") as file:
                file.write(f"{exercise}\t{source[:60]!r}\t{begun}\t{time.monotonic()}\n")
        return self._report(exercise, graded)

    def close(self) -> None:
        pass

    def _report(self, exercise: str, graded: ExerciseResult) -> Report:
        return Report(
            submission="",
            points=graded.points,
            max_points=graded.max_points,
            environment={
                "jax": "0",
                "backend": "cpu",
                "device": "cpu",
                "python": "3",
                "sandbox": "none",
                "seed": str(random.random()),
            },
            exercises={exercise: graded},
        )


def result(exercise: str, word: str) -> ExerciseResult:
    """What a module that begins with `word` gets."""
    if word == "ungraded":
        return ungraded(exercise, "the grader failed")
    items = []
    for number, test in enumerate(course.graded_tests(exercise)):
        right = word not in ("missing", "wrong") and (word != "half" or number % 2)
        outcome: Outcome = "passed" if right else "failed"
        items.append(
            ItemResult(
                name=test.name,
                title=test.item.title,
                hidden=test.hidden,
                points=test.item.points if right else 0.0,
                max_points=test.item.points,
                outcome=outcome,
                message="" if right else f"it gives {number}.5, which is wrong <b>here</b>",
                detail="" if right else "known mistake: off-by-one\nstudent = None",
            )
        )
    return ExerciseResult(
        points=sum(item.points for item in items),
        max_points=sum(item.max_points for item in items),
        seconds=0.5,
        items=items,
    )
