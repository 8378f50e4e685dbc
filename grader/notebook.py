"""What the cells of an exercise's notebook call: the grader, on the modules beside it."""

from __future__ import annotations

from html import escape
from pathlib import Path

from IPython.display import display

from grader import exercises as course
from grader.batch.tasks import tasks
from grader.cache import compilation_cache
from grader.course.cell_html import plain, rich
from grader.course.cells import check_cells
from grader.exercises import GradedTest, has_hidden_tests
from grader.grading import Grader, shared_grader
from grader.hints import next_hint
from grader.ingest import Submission, ingest
from grader.report.model import ItemResult

_FRAME = (
    '<figure style="--ink: var(--jp-content-font-color1, #1c1f23); --accent: #4c8fd6;'
    ' --second: #d9772b; --line: #b9bfc6; margin: 0; max-width: 52rem">'
    "{element}<figcaption>{caption}</figcaption></figure>"
)
_verdicts: dict[tuple[str, str], ItemResult] = {}
"""By the modules' content and the item's name: an unchanged module is graded once."""


def check(exercise: str, test: str) -> float:
    """Grades one item on the module as it is saved and shows the verdict; returns the points."""
    for cell in check_cells(exercise):
        if cell.test.name == test and not cell.test.hidden:
            return _show(cell.test)
    raise ValueError(f"{exercise} has no item {test}; is the notebook of another version?")


def check_hidden(exercise: str, number: int) -> float | None:
    """Says that an item is graded after handing in; grades it where the hidden tests are."""
    hidden = [cell.test for cell in check_cells(exercise) if cell.test.hidden]
    if number <= len(hidden):
        return _show(hidden[number - 1])
    text = "This one is graded after you hand in."
    display({"text/plain": text, "text/html": f"<em>{text}</em>"}, raw=True)
    return None


def show_picture(exercise: str) -> None:
    """Shows what the module does with real digits; it is worth no points."""
    submission = _submission()
    drawn = _grader().pictures(submission, [exercise]).get(exercise)
    if drawn is None:
        print(f"There is no {exercise}.py beside this notebook.")
    elif isinstance(drawn, str):
        print(drawn)
    else:
        element = _FRAME.format(element=drawn.element, caption=escape(drawn.caption))
        display({"text/plain": drawn.caption, "text/html": element}, raw=True)


def hint(exercise: str) -> None:
    """Shows the next hint on an exercise, one at a time."""
    found = next_hint(exercise)
    print(f"Hint {found.number} of {found.total}: {found.text}")


def _show(test: GradedTest) -> float:
    item = _verdict(test)
    shown = {"text/plain": plain(item), "text/html": rich(item, test.item.hint)}
    display(shown, raw=True)
    return item.points


def _verdict(test: GradedTest) -> ItemResult:
    submission = _submission()
    (task,) = tasks(submission, [test.exercise])
    key = task.content, f"{test.hidden} {test.name}"
    if key not in _verdicts:
        report = _grader().grade(submission, exercises=[test.exercise], only=[test])
        (item,) = report.exercises[test.exercise].items
        if item.outcome == "ungraded":
            return item
        _verdicts[key] = item
    return _verdicts[key]


def _submission() -> Submission:
    return ingest(Path.cwd(), list(course.catalogue()))


def _grader() -> Grader:
    """The grader of this kernel, which stays warm; a student's own code needs no sandbox."""
    if has_hidden_tests():
        return shared_grader()
    return shared_grader("off", compilation_cache())
