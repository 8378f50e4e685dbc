"""The notebook of an exercise: its statement, its picture and a check cell an item."""

from __future__ import annotations

import ast

import nbformat
from nbformat import NotebookNode, v4

from grader import exercises as course
from grader.course.cells import answer_cells, check_cells
from grader.course.statement import definition, markdown

_IMPORTS = """\
# What you write is in {name}.py beside this notebook. Save it, then run the checks below.
%load_ext autoreload
%autoreload 2
import {name}

from grader.notebook import check, check_hidden, hint, show_picture"""

_WORK = """\
## The checks

Each cell grades `{name}.py` as it is saved and says what is wrong. Code that you write in this
notebook is not graded. When you are stuck, run `hint("{name}")` in a cell of your own."""

_HIDDEN = """\
## Graded after you hand in

These look at the same functions from other sides."""

_QUESTION = """\
## The written answer ({points:g} points)

{text}

Write it as `{attribute}` in `{name}.py`, and the next cell can stay as it is. Or write it into the
cell, with formulas if you like: then the cell is what is read. One check asks that `{attribute}` is
not empty either way."""

_HEADER = """\
Work in the `.py` file of the same name beside this notebook, not in the notebook. Hand in the whole
folder."""


def notebook(exercise: str, stub: str) -> NotebookNode:
    """The notebook of an exercise, in the source version, from the stub that students get."""
    docstring = ast.get_docstring(ast.parse(stub)) or course.catalogue()[exercise].title
    cells = [
        _text("statement", markdown(docstring)),
        _code("import", _IMPORTS.format(name=exercise)),
        _code("picture", f'show_picture("{exercise}")'),
    ]
    for answer in answer_cells(exercise):
        text = definition(docstring, answer.attribute)
        question = _QUESTION.format(
            points=answer.points, text=text, attribute=answer.attribute, name=exercise
        )
        cells.append(_text(f"question-{answer.attribute}", question))
        cells.append(
            _cell("markdown", answer.grade_id, "YOUR ANSWER HERE", "manual", answer.points)
        )
    cells.append(_text("checks", _WORK.format(name=exercise)))
    checks = check_cells(exercise)
    for check in checks:
        if check.test.hidden and check.grade_id == "hidden-01":
            cells.append(_text("hidden", _HIDDEN))
        cells.append(_cell("code", check.grade_id, check.source, "check", check.points))
    return _notebook(cells)


def header() -> NotebookNode:
    """What nbgrader puts above every notebook."""
    cell = v4.new_markdown_cell(_HEADER)
    cell["id"] = "header"
    return _notebook([cell])


def text_of(book: NotebookNode) -> str:
    """A notebook's file."""
    return nbformat.writes(book) + "\n"


def _notebook(cells: list[NotebookNode]) -> NotebookNode:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return v4.new_notebook(
        cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}}
    )


def _text(grade_id: str, source: str) -> NotebookNode:
    return _cell("markdown", grade_id, source)


def _code(grade_id: str, source: str) -> NotebookNode:
    return _cell("code", grade_id, source)


def _cell(
    cell_type: str, grade_id: str, source: str, kind: str = "locked", points: float | None = None
) -> NotebookNode:
    """A cell that nbgrader keeps as it is, but for `manual` ones."""
    about = {
        "schema_version": 3,
        "grade": kind in ("check", "manual"),
        "solution": kind == "manual",
        "locked": kind != "manual",
        "task": False,
        "grade_id": grade_id,
    }
    if points is not None:
        about["points"] = points
    metadata = {"nbgrader": about}
    if cell_type == "code":
        cell = v4.new_code_cell(source, metadata=metadata)
    else:
        cell = v4.new_markdown_cell(source, metadata=metadata)
    cell["id"] = grade_id[:64]  # random ones would differ from one generation to the next
    return cell
