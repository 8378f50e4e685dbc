"""A worker that stays for the next version of a module, with all that JAX has compiled in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from grader.launch import Launcher, WorkerFault, WorkerProcess, deadline_in

MOST_GRADINGS = 20
"""How many gradings a worker serves: what JAX keeps of earlier versions goes with the worker."""
RESET_SECONDS = 10.0


class StandingWorkers:
    """Starts workers as a launcher does, and hands the last one out again while it is clean.

    For the watch of a student's own folder, never for grades: a module can reach whatever an
    earlier one left in the process. Traces that an honest module leaves are looked for (see
    `grader.footprint`), and then, as after any fault, the next worker is a fresh one.
    """

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._free: StandingWorker | None = None

    def start(self, *, timing: bool = False) -> StandingWorker:
        """A worker without a module; see `Launcher.start`."""
        worker, self._free = self._free, None
        if worker and worker.timing == timing and worker.reset():
            return worker
        if worker:
            worker.end()
        worker = StandingWorker(self._launcher.start(timing=timing), timing, self._take_back)
        worker.reset()
        return worker

    def close(self) -> None:
        if self._free:
            self._free.end()
            self._free = None

    def _take_back(self, worker: StandingWorker) -> None:
        self.close()
        self._free = worker


class StandingWorker:
    """A worker process that goes back to its owner when it is closed.

    Attributes:
      directory: where it works.
      timing: whether it was started for programs whose times count.
    """

    def __init__(
        self, process: WorkerProcess, timing: bool, give_back: Callable[[StandingWorker], None]
    ) -> None:
        self.directory, self.timing = process.directory, timing
        self._process, self._give_back = process, give_back
        self._gradings = 0
        self._is_alive = True
        self._earlier_output = ""

    def request(self, message: Mapping[str, Any], deadline: float) -> dict[str, Any]:
        """See `WorkerProcess.request`."""
        try:
            return self._process.request(message, deadline)
        except WorkerFault:
            self._is_alive = False
            raise

    def output(self) -> str:
        """What was printed since the last reset."""
        return self._process.output().removeprefix(self._earlier_output)

    def reset(self) -> bool:
        """Has the worker forget its module; False if it cannot be used again."""
        self._gradings += 1
        try:
            reply = self.request({"do": "reset"}, deadline_in(RESET_SECONDS))
        except WorkerFault:
            return False
        self._earlier_output = self._process.output()
        return reply.get("value") is True

    def close(self) -> None:
        """Ends the grading: the worker goes back if it can serve another."""
        if self._is_alive and self._gradings < MOST_GRADINGS:
            self._give_back(self)
        else:
            self.end()

    def end(self) -> None:
        """Ends the process."""
        self._process.close()
