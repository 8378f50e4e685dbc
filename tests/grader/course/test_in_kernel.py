"""A released notebook in a real kernel: what a student sees who runs its cells."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode, v4

from tests.grader.conftest import SOLUTION
from tests.grader.course.conftest import Course
from tests.grader.course.submissions import CANARY, SHOUTING, WRONG

pytestmark = pytest.mark.slow


@pytest.fixture
def student(released: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's folder: what was released, and a kit without hidden tests."""
    kit = tmp_path / "kit"
    secret = shutil.ignore_patterns("hidden", "solutions", "__pycache__")
    shutil.copytree(released.kit.root, kit, ignore=secret)
    work = tmp_path / "work"
    work.mkdir()
    for path in (released.root / "release" / "jax").iterdir():
        (work / path.name).write_bytes(path.read_bytes())
    monkeypatch.setenv("PYTHONPATH", str(kit))
    return work


def run(folder: Path, *extra: str) -> tuple[NotebookNode, dict[str, list[NotebookNode]]]:
    """Runs `scaling.ipynb`; returns the outputs by the ids of cells."""
    book = nbformat.read(folder / "scaling.ipynb", as_version=4)
    book.cells += [v4.new_code_cell(text) for text in extra]
    client = NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    outputs = {
        cell.metadata.get("nbgrader", {}).get("grade_id", f"extra{number}"): cell.outputs
        for number, cell in enumerate(book.cells)
        if cell.cell_type == "code"
    }
    return book, outputs


def test_a_check_cell_shows_the_verdict_and_gives_its_points(student: Path) -> None:
    (student / "scaling.py").write_text(SOLUTION)
    _, outputs = run(student)
    shown, points = outputs["test_scale_multiplies"]
    assert shown.data["text/plain"] == "✓ passed: scale multiplies (6 of 6 points)"
    assert "✓ passed" in shown.data["text/html"]
    assert points.data["text/plain"] == "6.0"
    (hidden,) = outputs["hidden-01"]
    assert hidden.data["text/plain"] == "This one is graded after you hand in."


def test_a_wrong_module_gets_its_message_and_a_hint_on_demand(student: Path) -> None:
    (student / "scaling.py").write_text(WRONG)
    _, outputs = run(student, 'hint("scaling")')
    shown, points = outputs["test_scale_multiplies"]
    assert "the factor is added" in shown.data["text/plain"]
    assert "What is twice two?" not in shown.data["text/plain"]
    assert "<details><summary>Hint</summary>What is twice two?" in shown.data["text/html"]
    assert points.data["text/plain"] == "0.0"
    assert "Hint 1 of 3: Look." in str(outputs)


def test_what_a_module_says_is_escaped(student: Path) -> None:
    (student / "scaling.py").write_text(SHOUTING)
    _, outputs = run(student)
    shown, _ = outputs["test_scale_multiplies"]
    assert CANARY in shown.data["text/plain"]
    assert "<script" not in shown.data["text/html"]
    assert "<img" not in shown.data["text/html"]


def test_a_saved_change_is_graded_and_an_unchanged_module_is_not_graded_again(
    student: Path,
) -> None:
    (student / "scaling.py").write_text(WRONG)
    change = (
        "from pathlib import Path\n"
        "text = Path('scaling.py').read_text()\n"
        "_ = Path('scaling.py').write_text(text.replace('x + factor', 'x * factor'))"
    )
    timed = (
        "import time\nbegun = time.monotonic()\n"
        'check("scaling", "test_scale_multiplies")\n'
        "print('took', time.monotonic() - begun)"
    )
    begun = time.monotonic()
    book, _ = run(student, change, 'check("scaling", "test_scale_multiplies")', timed)
    assert time.monotonic() - begun < 300
    changed, again = book.cells[-2].outputs, book.cells[-1].outputs
    assert changed[-1].data["text/plain"] == "6.0"
    (took,) = [o.text for o in again if o.output_type == "stream"]
    assert float(took.split()[1]) < 1.0
