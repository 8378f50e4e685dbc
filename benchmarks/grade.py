"""What grading costs beside the student's own functions.

    python benchmarks/grade.py [-x EXERCISE]... [-n ROUNDS]

The solutions are graded once and every call that reaches them is written down. A bare script then
imports jax and makes the same calls with the same inputs, once, in one process, without a grader,
a sandbox or a cache. Beside it the whole `python -m grader grade solutions` is timed, its cache of
compiled operations empty and warm. Printed are elapsed seconds and
their ratios to the bare script.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

from grader.exercises import ROOT, names
from grader.grading import Grader
from grader.launch import WorkerProcess
from grader.wire import Writer

BARE = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from grader.wire import decode
from grader.worker import Worker

def read(file):
    while lengths := file.read(8):
        header = file.read(int.from_bytes(lengths[:4]))
        yield decode(header, bytearray(file.read(int.from_bytes(lengths[4:]))))

worker = None
for request in read(open(sys.argv[1], "rb")):
    if request["do"] == "load":
        sys.path[:] = [p for p in sys.path if p != request["directory"]]
        worker = Worker()
    if worker:
        worker.reply(request)
"""


def record(exercises: list[str], to: Path, folder: Path) -> None:
    """Grades the solutions and writes down, in `to`, what their workers were asked."""
    ask = WorkerProcess.request

    def listen(worker: WorkerProcess, message: Mapping[str, Any], deadline: float) -> Any:
        own = {**message, "directory": str(folder)} if message["do"] == "load" else message
        file.writelines(Writer().frame(own))
        return ask(worker, message, deadline)

    with (
        to.open("wb") as file,
        mock.patch.object(WorkerProcess, "request", listen),
        Grader("off") as grader,
    ):
        report = grader.grade(ROOT / "solutions", exercises=exercises, seed=0)
    if not report.complete:
        sys.exit("the solutions lose points here: mend that first")


def seconds(command: list[str], **variables: str) -> float:
    """The elapsed time of a command."""
    start = time.perf_counter()
    subprocess.run(
        command, cwd=ROOT, env={**os.environ, **variables}, stdout=subprocess.DEVNULL, check=True
    )
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-x", "--exercise", action="append", choices=names())
    parser.add_argument("-n", "--rounds", type=int, default=3)
    chosen = parser.parse_args()
    exercises = chosen.exercise or names()
    options = [part for name in exercises for part in ("-x", name)]
    grade = [sys.executable, "-m", "grader", "grade", "solutions", "--seed", "0", *options]
    with tempfile.TemporaryDirectory() as scratch:
        calls, folder, empty = (Path(scratch, name) for name in ("calls", "work", "empty"))
        folder.mkdir()
        empty.mkdir()
        record(exercises, calls, folder)
        kinds: dict[str, list[float]] = {"bare": [], "cold": [], "warm": []}
        for _ in range(chosen.rounds):  # taken in turn, so that a busy minute hits all of them
            bare = [sys.executable, "-c", BARE, str(calls)]
            kinds["bare"].append(
                seconds(bare, JAX_DEFAULT_MATMUL_PRECISION="highest", MPLBACKEND="Agg")
            )
            kinds["cold"].append(seconds(grade, JAXLINGS_CACHE=str(empty)))
            kinds["warm"].append(seconds(grade))
    base = statistics.median(kinds["bare"])
    print(f"{', '.join(exercises)}: medians of {chosen.rounds} rounds")
    for kind, found in kinds.items():
        print(f"{kind}: {statistics.median(found):5.1f} s ({statistics.median(found) / base:.2f})")


if __name__ == "__main__":
    main()
