"""The first pass of autograding: a submitted notebook becomes the released one again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.course.answers import readable_notebook, written_answer
from grader.course.cells import answer_cells
from grader.course.submitted import read_submission
from grader.ingest import IngestError


class PatientExporter(NotebookExporter):
    """Reads a file that is no notebook as an empty one, which is then rebuilt like any other."""

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[Any, dict[str, Any]]:
        if (found := readable_notebook(Path(filename))) is None:
            self.log.warning("%s is not a notebook that can be read", filename)
            found = nbformat.v4.new_notebook()
        exporter: Any = super()
        return exporter.from_notebook_node(found, resources=resources, **kw)


class RebuildFromRelease(NbGraderPreprocessor):
    """Takes the released notebook and puts the written answers in, as text that does nothing.

    So a student's cells, metadata, kernel and attachments go no further.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        about, coursedir = resources["nbgrader"], self.parent.parent.coursedir
        student, assignment, exercise = about["student"], about["assignment"], about["notebook"]
        released = Path(coursedir.format_path(coursedir.release_directory, ".", assignment))
        folder = Path(coursedir.format_path(coursedir.submitted_directory, student, assignment))
        fresh = nbformat.read(released / f"{exercise}.ipynb", as_version=4)
        if not answer_cells(exercise):
            return fresh, resources
        try:
            source = read_submission(folder, student).modules.get(exercise, b"")
        except IngestError:
            source = b""
        others = [path for path in sorted(folder.glob("*.ipynb")) if path.stem != exercise]
        books = [nb, *filter(None, map(readable_notebook, others))]
        for answer in answer_cells(exercise):
            (cell,) = (
                c
                for c in fresh.cells
                if c.metadata.get("nbgrader", {}).get("grade_id") == answer.grade_id
            )
            text = written_answer(books, answer.grade_id, cell.source, source, answer.attribute)
            cell.source = text or cell.source
        return fresh, resources
