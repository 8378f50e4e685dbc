"""The report on a terminal; plain text where the output is no terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.exercises import POINTS, Exercise
from grader.report.clean import clean
from grader.report.model import ExerciseResult, ItemResult, Report

# A mark never rests on its colour.
_MARKS = {
    "passed": ("✓", "green"),
    "failed": ("✗", "red"),
    "error": ("✗", "red"),
    "timeout": ("✗", "red"),
    "crashed": ("✗", "red"),
    "ungraded": ("?", "yellow"),
}
_WORDS = {"error": "error", "timeout": "out of time", "crashed": "crash", "ungraded": "not graded"}
_MESSAGE_LINES = 6


def show(
    report: Report,
    exercises: Mapping[str, Exercise],
    hints: Mapping[tuple[str, str], str],
    console: Console,
) -> None:
    """Prints the report: an exercise a block, an item a line, messages under what failed.

    `hints` are those of the items, by exercise and name.
    """
    for name, result in report.exercises.items():
        _show_exercise(name, result, exercises[name], hints, console)
    _show_total(report, exercises, console)


def number(points: float) -> str:
    """Points without a needless fraction."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def _show_exercise(
    name: str,
    result: ExerciseResult,
    exercise: Exercise,
    hints: Mapping[tuple[str, str], str],
    console: Console,
) -> None:
    console.print()
    heading = Text(f"{exercise.order} {exercise.title}", style="bold")
    heading.append(f"  ({name}.py, {result.seconds:.1f} s)", style="dim")
    console.print(_line(heading, result.points, result.max_points))
    failed = [item for item in result.items if item.outcome not in ("passed", "ungraded")]
    messages = {(item.outcome, item.message, item.detail) for item in failed if not item.hidden}
    if len(failed) == len(result.items) > 1 and len(messages) == 1:
        # One cause for everything (no such file, a syntax error): say it once.
        first = next(item for item in failed if not item.hidden)
        console.print(Text(f"  ✗ all {len(failed)} items", style="red"))
        _show_message(first, "", console)
    else:
        shown: set[str] = set()
        for item in result.items:
            _show_item(item, hints.get((name, item.name), ""), shown, console)
    if failed:
        console.print(Text(f"  Hints: make hint X={name}", style="cyan"))


def _show_item(item: ItemResult, hint: str, shown: set[str], console: Console) -> None:
    mark, style = _MARKS[item.outcome]
    line = Text(item.title)
    if item.outcome in _WORDS:
        line.append(f" [{_WORDS[item.outcome]}]", style=style)
    if item.hidden:
        line.append(" (hidden)", style="dim")
    console.print(_line(line, item.points, item.max_points, Text(f"  {mark}", style=style)))
    if item.outcome == "passed" or (item.hidden and item.outcome != "ungraded"):
        return
    if item.message in shown:
        console.print(Padding(Text("The same as above.", style="dim"), (0, 0, 0, 4), expand=False))
    else:
        shown.add(item.message)
        _show_message(item, hint, console)


def _show_message(item: ItemResult, hint: str, console: Console) -> None:
    text = Text(clean(item.message, _MESSAGE_LINES))
    own = [line.strip() for line in item.detail.splitlines() if line.startswith("  ")]
    written = "NotImplementedError" not in item.detail
    if item.outcome == "error" and own and written:
        text.append(f"\n{clean(own[-1])}", style="dim")  # the innermost line of the student's own
    if hint and item.outcome in ("failed", "error") and written:
        text.append(f"\n→ {hint}", style="cyan")
    console.print(Padding(text, (0, 0, 0, 4), expand=False))


def _show_total(report: Report, exercises: Mapping[str, Exercise], console: Console) -> None:
    console.print()
    console.print(_line(Text("Total", style="bold"), report.points, report.max_points))
    manual = sum(sum(exercises[name].manual.values()) for name in report.exercises)
    hidden = POINTS * len(report.exercises) - report.max_points - manual
    more = []
    if hidden > 0.005:
        more.append(f"{number(hidden)} points of hidden tests")
    if manual:
        more.append(f"{number(manual)} points for a written answer, marked by hand")
    if more:
        console.print(Text(f"Not counted here: {' and '.join(more)}.", style="dim"))
    if report.ungraded:
        console.print(
            Text(
                f"? {len(report.ungraded)} items could not be graded: the grader or this machine"
                " failed, not your code. Run it again; if it stays, tell your instructor.",
                style="yellow",
            )
        )
    e = report.environment
    about = f"jax {e['jax']} on {e['backend']} ({e['device']}), Python {e['python']}"
    # A worker with an interpreter of its own is slower: where forking is not safe, say so.
    cold = ", cold workers" if e.get("workers") == "cold" else ""
    console.print(Text(f"{about}, sandbox: {e['sandbox']}{cold}", style="dim"))


def _line(text: Text, points: float, maximum: float, mark: Text | None = None) -> Table:
    grid = Table.grid(*([""] if mark else []), expand=True, padding=(0, 1))
    grid.add_column(ratio=1)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_row(*([mark] if mark else []), text, Text(f"{number(points)} / {number(maximum)}"))
    return grid
