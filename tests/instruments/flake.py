"""Grades the same submissions over and over on a busy machine and counts verdicts that flip.

    python -m tests.instruments.flake [-n RUNS] [--zoo SAMPLE] [--busy LOOPS]

The solutions must get everything each time, and each module of a fixed sample of the zoo must be
accepted or rejected as it declares. Busy loops beside them take what they can of the cores.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.progress import Progress

from grader.exercises import ROOT, catalogue
from grader.grading import Grader
from grader.ingest import Submission
from grader.verify import Specimen, judge, specimens


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Processes that compute for nothing."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def sample(count: int) -> list[Specimen]:
    """Modules evenly spread over the zoo, the same ones each time."""
    found = specimens(ROOT)
    return found[:: max(1, len(found) // count)][:count] if count else []


def flips(grader: Grader, chosen: list[Specimen]) -> Iterator[str]:
    """What a run of the solutions and of `chosen` got that it should not, a line each."""
    report = grader.grade(ROOT / "solutions")
    for name, exercise in report.exercises.items():
        for item in exercise.items:
            if item.outcome != "passed":
                yield f"solutions/{name}: {item.name} {item.outcome}: {item.message} {item.detail}"
    for specimen in chosen:
        submission = Submission("zoo", {specimen.exercise: specimen.path.read_bytes()})
        found = judge(specimen, grader.grade(submission, exercises=[specimen.exercise]))
        yield from found.problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--runs", type=int, default=50)
    parser.add_argument("--zoo", type=int, default=5, help="modules of the zoo in each run")
    parser.add_argument("--busy", type=int, default=2, help="busy loops beside the grading")
    chosen = parser.parse_args()
    console, specimen = Console(), sample(chosen.zoo)
    graded = chosen.runs * (len(catalogue()) + len(specimen))
    wrong = 0
    with busy(chosen.busy), Grader("auto") as grader, Progress(transient=True) as progress:
        for _ in progress.track(range(chosen.runs), description="Grading"):
            for line in flips(grader, specimen):
                wrong += 1
                console.print(line, markup=False, highlight=False)
    console.print(f"flips: {wrong} in {graded} gradings of an exercise")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
