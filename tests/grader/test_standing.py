"""A standing worker: quick, and never a way from one version of a module into the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from grader.launch import Launcher, deadline_in
from grader.sandbox import choose
from grader.standing import MOST_GRADINGS, StandingWorkers
from grader.student import Student, StudentFault

PID = "import os\ndef pid():\n    return os.getpid()\n"
SECONDS = 60.0

Grading = Callable[..., Student]


@pytest.fixture
def grading() -> Iterator[Grading]:
    """Starts the grading of a version of a module."""
    with Launcher(choose("off")) as launcher:
        workers = StandingWorkers(launcher)

        def begin(source: str, timing: bool = False) -> Student:
            def connect():
                worker = workers.start(timing=timing)
                return worker, worker.directory

            student = Student("module", {"module.py": source.encode()}, connect)
            student.begin(deadline_in(SECONDS))
            return student

        yield begin
        workers.close()


def pid_of(student: Student) -> int:
    """The number of the process that grades, the grading ended."""
    try:
        return int(student.pid())
    finally:
        student.close()


def test_the_next_version_is_loaded_in_the_same_process(grading):
    first = pid_of(grading(PID + "print('first', flush=True)\nearlier = 1\n"))
    second = grading(
        PID + "print('second', flush=True)\ndef broken():\n    raise KeyError('new')\n"
    )
    with pytest.raises(StudentFault, match="no earlier"):
        second.get("earlier")
    with pytest.raises(StudentFault) as raised:
        second.broken()
    assert "raise KeyError('new')" in raised.value.detail
    assert second.output().strip() == "second"
    assert pid_of(second) == first


def test_a_version_that_cannot_be_imported_costs_no_process(grading):
    first = pid_of(grading(PID))
    broken = grading("def pid(:\n")
    with pytest.raises(StudentFault):
        broken.pid()
    broken.close()
    assert pid_of(grading(PID)) == first


def test_an_import_that_failed_is_told_again_and_again_without_growing(grading):
    broken = grading("def pid(:\n")
    told = []
    for _ in range(3):
        with pytest.raises(StudentFault) as raised:
            broken.pid()
        told.append(len(raised.traceback))
    broken.close()
    assert told[1] == told[2]


@pytest.mark.parametrize(
    "trace",
    [
        "import jax\njax.config.update('jax_enable_x64', True)\n",
        "import jax.numpy as jnp\njnp.sum = lambda *args, **kwargs: 0.0\n",
        "import time\ntime.perf_counter = lambda: 0.0\n",
        "import builtins\nbuiltins.round = max\n",
        "import os\nos.environ['JAX_ENABLE_X64'] = '1'\n",
        "import sys\nsys.path.insert(0, '/elsewhere')\n",
        "import numpy as np\nnp.seterr(all='raise')\n",
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True)"
        ".start()\n",
    ],
    ids=lambda trace: trace.splitlines()[1][:30],
)
def test_after_a_version_that_leaves_traces_the_process_is_a_new_one(grading, trace):
    first = pid_of(grading(PID))
    assert pid_of(grading(PID + trace)) == first
    assert pid_of(grading(PID)) != first


def test_after_a_crash_the_process_is_a_new_one(grading):
    crashing = grading(PID + "def leave():\n    os._exit(3)\n")
    first = int(crashing.pid())
    with pytest.raises(StudentFault) as raised:
        crashing.leave()
    crashing.close()
    assert raised.value.outcome == "crashed"
    assert pid_of(grading(PID)) != first


def test_times_that_count_are_measured_in_a_process_for_them(grading):
    assert pid_of(grading(PID, timing=True)) != pid_of(grading(PID, timing=False))


def test_a_process_serves_so_many_gradings_and_no_more(grading):
    pids = [pid_of(grading(PID)) for _ in range(MOST_GRADINGS + 1)]
    assert len(set(pids[:MOST_GRADINGS])) == 1
    assert pids[-1] != pids[0]
