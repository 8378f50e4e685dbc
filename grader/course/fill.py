"""The second pass of autograding: verdicts in place of a kernel's outputs."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
from nbformat import NotebookNode, v4
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades

from grader.batch.tasks import Verdict
from grader.course.cell_html import rich
from grader.course.cells import check_cells
from grader.course.submitted import read_submission
from grader.course.verdicts import Verdicts, not_graded
from grader.ingest import IngestError
from grader.report.model import ExerciseResult, ItemResult

KEY = "jaxlings"
"""Where a filled notebook keeps, in its metadata, what it was filled with."""


class Filled(msgspec.Struct, frozen=True, kw_only=True):
    """What a notebook was filled with.

    Attributes:
      content: of the modules, as the batch names it.
      notebook: digest of the submitted notebook's file.
      result: the verdict.
      environment: what it was made in.
    """

    content: str
    notebook: str
    result: ExerciseResult
    environment: dict[str, str]


class FillFromResults(NbGraderPreprocessor):
    """Gives each check cell the verdict on its item, and the notebook all of them."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        about, coursedir = resources["nbgrader"], self.parent.parent.coursedir
        exercise, student = about["notebook"], about["student"]
        folder = Path(
            coursedir.format_path(coursedir.submitted_directory, student, about["assignment"])
        )
        verdict = self._verdict(folder, student, exercise, Path(coursedir.root))
        items = {(item.name, item.hidden): item for item in verdict.result.items}
        found = {
            cell.grade_id: items[cell.test.name, cell.test.hidden]
            for cell in check_cells(exercise)
            if (cell.test.name, cell.test.hidden) in items
        }
        for cell in nb.cells:
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            if cell.cell_type == "code" and grade_id in found:
                cell.outputs = [_output(found[grade_id])]
                cell.execution_count = None
        filled = Filled(
            content=verdict.content,
            notebook=digest(folder / f"{exercise}.ipynb"),
            result=verdict.result,
            environment=verdict.environment,
        )
        nb.metadata[KEY] = msgspec.to_builtins(filled)
        resources[KEY] = {name for name, item in found.items() if item.outcome != "ungraded"}
        return nb, resources

    def _verdict(self, folder: Path, student: str, exercise: str, root: Path) -> Verdict:
        """Never raises: nbgrader would drop the submission and leave its old marks standing."""
        try:
            submission = read_submission(folder, student)
            return Verdicts(parent=self).of(submission, exercise, root)
        except Exception as error:
            self.log.exception("%s of %s was not graded", exercise, student)
            why = str(error) if isinstance(error, IngestError) else f"The grader failed: {error}"
            return not_graded("", exercise, why)


class SaveGrades(SaveAutoGrades):
    """Saves no mark for what the grader could not grade, and asks for a person instead."""

    def _add_score(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        super()._add_score(cell, resources)
        grade_id = cell.metadata["nbgrader"]["grade_id"]
        if cell.cell_type == "code" and grade_id not in resources[KEY]:
            grade = self.gradebook.find_grade(
                grade_id, self.notebook_id, self.assignment_id, self.student_id
            )
            grade.auto_score = None
            grade.needs_manual_grade = True
            self.gradebook.db.commit()


def filled_with(notebook: NotebookNode) -> Filled | None:
    """What an autograded notebook was filled with, if it was."""
    try:
        return msgspec.convert(notebook.metadata.get(KEY), type=Filled)
    except msgspec.ValidationError:
        return None


def digest(path: Path) -> str:
    """Digest of a file; empty if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _output(item: ItemResult) -> NotebookNode:
    """The one output that decides the mark.

    nbgrader reads a mark off `text/plain`, and gives full marks for what is no number.
    """
    points = min(max(float(item.points), 0.0), item.max_points)
    return v4.new_output(
        "execute_result",
        {"text/plain": repr(points), "text/html": rich(item, instructor=True)},
        execution_count=None,
    )
