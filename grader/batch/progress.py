"""A batch on a terminal: how far it is, how fast it goes, how long it will take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from grader.batch.publish import Line
from grader.batch.run import Watcher
from grader.report.clean import clean
from grader.report.terminal import number

_QUIET_SECONDS = 30.0
"""Between two lines where no bar can be drawn."""


class TerminalWatcher(Watcher):
    """Draws a bar on a terminal; writes a line now and then to a file."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("Grading the reference solution", total=None, rate="")
        self._begun = self._said = time.monotonic()
        self._steps = self._total = 0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def note(self, text: str) -> None:
        self._console.print(clean(text, 1), highlight=False, markup=False, soft_wrap=True)

    def begin(self, waiting: int) -> None:
        self._begun = self._said = time.monotonic()
        self._total = waiting
        self._bar.update(self._task, description="Grading modules", total=waiting)
        if not self._console.is_terminal:
            self.note(f"{waiting} different modules to grade")

    def step(self) -> None:
        self._steps += 1
        rate = 60 * self._steps / max(time.monotonic() - self._begun, 1e-3)
        self._bar.update(self._task, advance=1, rate=f"{rate:.0f}/min")
        if not self._console.is_terminal and time.monotonic() - self._said > _QUIET_SECONDS:
            self._said = time.monotonic()
            left = (self._total - self._steps) / rate
            self.note(f"{self._steps} of {self._total}, {rate:.0f}/min, {left:.0f} min left")


def show(lines: Sequence[Line], console: Console) -> None:
    """Prints a line a student."""
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for line in lines:
        points = f"{number(line.points)} / {number(line.max_points)}"
        table.add_row(
            Text(clean(line.student, 1)),
            Text(points) if line.graded else Text("not graded", style="yellow"),
            Text(clean("; ".join(line.remarks), 1), style="dim"),
        )
    console.print(table)
