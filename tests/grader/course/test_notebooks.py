"""What a notebook is made of, and that its ids stay what the gradebooks of courses know."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator

from grader import exercises as course
from grader import kit
from grader.course.cells import answer_cells, check_cells
from grader.course.generate import generate
from grader.course.statement import definition, markdown
from grader.exercises import ROOT
from grader.launch import GraderError

FROZEN = Path(__file__).with_name("grade_ids.json")
NAMES = list(course.catalogue())


def current_ids(exercise: str) -> dict[str, list[object]]:
    """What the gradebook calls each cell, the test behind it, and its points."""
    ids: dict[str, list[object]] = {
        cell.grade_id: [cell.test.name, cell.points] for cell in check_cells(exercise)
    }
    ids |= {cell.grade_id: [cell.attribute, cell.points] for cell in answer_cells(exercise)}
    return ids


def test_grade_ids_are_frozen() -> None:
    """A gradebook with submissions in it cannot follow a change: append tests to their files.

    Until an assignment is released: python -m tests.grader.course.test_notebooks
    """
    assert {name: current_ids(name) for name in NAMES} == json.loads(FROZEN.read_text())


@pytest.mark.parametrize("exercise", NAMES)
def test_an_exercise_is_worth_twenty_points_in_the_gradebook(exercise: str) -> None:
    assert sum(points for _, points in current_ids(exercise).values()) == course.POINTS


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate(tmp_path_factory.mktemp("course"))


@pytest.mark.parametrize("exercise", NAMES)
def test_a_notebook_is_valid_and_names_nothing_hidden(source: Path, exercise: str) -> None:
    text = (source / f"{exercise}.ipynb").read_text()
    book = nbformat.reads(text, as_version=4)
    nbformat.validate(book)
    MetadataValidator().validate_nb(book)
    assert book.metadata.kernelspec.name == "python3"
    # The statement may say what a title says; it names no test.
    sources = "\n".join(cell.source for cell in book.cells if cell.cell_type == "code")
    for test in course.graded_tests(exercise):
        assert (f'"{test.name}"' in sources) is not test.hidden
        assert not test.hidden or test.item.title not in sources
    for cell in book.cells:
        assert cell.cell_type == "markdown" or not cell.outputs


def test_stubs_lie_beside_the_notebooks_and_no_solution(source: Path) -> None:
    assert {path.name for path in source.iterdir()} == {"mnist_mlp.py"} | {
        f"{name}{suffix}" for name in NAMES for suffix in (".py", ".ipynb")
    }
    for name in NAMES:
        solution = (ROOT / "solutions" / f"{name}.py").read_text()
        assert (source / f"{name}.py").read_text() == kit.stub_source(solution)


def test_generating_again_gives_the_same_files_and_keeps_the_configuration(tmp_path: Path) -> None:
    def files() -> dict[str, bytes]:
        return {
            str(path.relative_to(tmp_path)): path.read_bytes()
            for path in tmp_path.rglob("*")
            if path.is_file()
        }

    generate(tmp_path)
    config = tmp_path / "nbgrader_config.py"
    config.write_text(config.read_text() + "c.LateByRate.per_day = 0.1\n")
    before = files()
    generate(tmp_path)
    assert files() == before
    assert str(tmp_path) not in config.read_text()


def test_a_kit_without_solutions_makes_no_course(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="solutions"):
        generate(tmp_path / "course", root=tmp_path)


def test_a_statement_is_its_docstring_as_markdown() -> None:
    docstring = """Exercise 9: a title.

Words with ``code``.

`f(x)`
    What it does,
    in two lines:

    seconds       elapsed
                  time
    speed         the rest

An example:

    python f.py
"""
    assert markdown(docstring) == (
        "# Exercise 9: a title\n\nWords with `code`.\n\n**`f(x)`**\n\n"
        "What it does,\nin two lines:\n\n- `seconds`: elapsed\n  time\n- `speed`: the rest\n\n"
        "An example:\n\n    python f.py"
    )
    assert definition(docstring, "f(x)").startswith("What it does,")
    assert definition(docstring, "g(x)") == ""


@pytest.mark.parametrize("exercise", NAMES)
def test_every_word_of_a_statement_is_in_the_notebook(source: Path, exercise: str) -> None:
    docstring = ast.get_docstring(ast.parse((source / f"{exercise}.py").read_text())) or ""
    shown = markdown(docstring)
    words = [word.strip("`.,:;*-()") for word in docstring.replace("``", "`").split()]
    assert not [word for word in words if word not in shown]


if __name__ == "__main__":
    found = {name: current_ids(name) for name in NAMES}
    FROZEN.write_text(json.dumps(found, indent=1) + "\n")
