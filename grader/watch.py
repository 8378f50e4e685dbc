"""Grades an exercise again each time its file is saved."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import watchfiles
from rich.console import Console
from rich.text import Text

from grader import exercises as course
from grader.grading import Grader
from grader.hints import next_hint
from grader.ingest import IngestError, ingest
from grader.pages import item_hints
from grader.report import terminal
from grader.report.model import ExerciseResult, Report

KEYS = "keys: h hint, a all, r report, q quit"
POLLED = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "vboxsf", "drvfs")
"""Types of file systems whose changes made elsewhere are not notified."""
_TICK = 200  # milliseconds between looks at the keyboard


class Watch:
    """One session: a warm grader, the folder, and the newest verdict on each exercise."""

    def __init__(self, folder: Path, grader: Grader, console: Console) -> None:
        self._folder, self._grader, self._console = folder, grader, console
        self._exercises = course.catalogue()
        self._results: dict[str, ExerciseResult] = {}
        self._last = next(iter(self._exercises))

    def run(self, write_report: Callable[[], Path]) -> None:
        """Watches until the key q, end of input, or an interrupt.

        `write_report` writes the page of the report and returns where it is.
        """
        polling = needs_polling(self._folder)
        if polling:
            self._say("Changes are looked for by polling: this drive sends no notifications.")
        watching = False
        with _single_keys() as pressed:
            for changes in watchfiles.watch(
                self._folder,
                watch_filter=self._is_exercise,
                debounce=300,
                step=50,
                rust_timeout=_TICK,
                yield_on_timeout=True,
                force_polling=polling or None,
                raise_interrupt=True,
                recursive=False,
            ):
                if not watching:  # said only now, when no save can be missed any more
                    self._say(f"Watching {self._folder}: save a file to grade it.")
                    self._foot()
                    watching = True
                for name in sorted({Path(path).stem for _, path in changes}):
                    self.grade([name])
                for key in pressed():
                    if key == "q":
                        return
                    self._do(key, write_report)

    def grade(self, names: list[str]) -> None:
        """Grades some exercises and shows their verdicts."""
        try:
            submission = ingest(self._folder, list(self._exercises))
        except IngestError as error:  # the folder is gone for the moment
            self._say(str(error))
            return
        with self._console.status(f"Grading {', '.join(names)}", spinner="line"):
            report = self._grader.grade(submission, exercises=names)
        self._last = names[-1]
        self._results |= report.exercises
        self._show(report)

    def _do(self, key: str, write_report: Callable[[], Path]) -> None:
        if key == "h":
            hint = next_hint(self._last)
            self._say(f"Hint {hint.number} of {hint.total} on {self._last}: {hint.text}")
        elif key == "a":
            self.grade(list(self._exercises))
        elif key == "r":
            self._say(f"The report is in {write_report()}")

    def _is_exercise(self, change: watchfiles.Change, path: str) -> bool:
        return Path(path).suffix == ".py" and Path(path).stem in self._exercises

    def _show(self, report: Report) -> None:
        terminal.show(report, self._exercises, item_hints(report), self._console)
        self._foot()

    def _foot(self) -> None:
        """A line on all exercises, and the keys."""
        parts = []
        for name in self._exercises:
            if result := self._results.get(name):
                mark = "✓" if result.points == result.max_points else "…"
                points = f"{terminal.number(result.points)}/{terminal.number(result.max_points)}"
                parts.append(f"{mark} {name} {points}")
            else:
                parts.append(f"  {name} -")
        self._console.print(Text(" | ".join(parts), style="bold"))
        if self._console.is_terminal:
            self._console.print(Text(KEYS, style="dim"))

    def _say(self, text: str) -> None:
        self._console.print(Text(text))


def needs_polling(folder: Path, mounts: Path = Path("/proc/mounts")) -> bool:
    """Whether changes in `folder` may come without a notification."""
    try:
        table = mounts.read_text("utf-8", "replace")
    except OSError:
        return False
    best, kind = "", ""
    for line in table.splitlines():
        fields = line.split()
        if len(fields) >= 3:
            point = fields[1].replace("\\040", " ")
            inside = folder.resolve().is_relative_to(point)
            if inside and len(point) >= len(best):
                best, kind = point, fields[2]
    return kind in POLLED


@contextlib.contextmanager
def _single_keys() -> Iterator[Callable[[], str]]:
    """Gives a function that returns the keys pressed since it was last called."""
    if not sys.stdin.isatty() or sys.platform == "win32":
        yield lambda: ""  # nobody presses a key
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)

    def pressed() -> str:
        keys = ""
        while select.select([sys.stdin], [], [], 0)[0]:
            data = os.read(sys.stdin.fileno(), 64)
            if not data:
                return keys + "q"
            keys += data.decode(errors="replace")
        return keys

    tty.setcbreak(sys.stdin)
    try:
        yield pressed
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
