"""Feedback for a student: our page in place of nbgrader's rendering of the notebook."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import msgspec
import nbformat
from nbconvert.exporters import Exporter
from nbgrader.api import Gradebook
from traitlets import Bool

from grader import exercises as course
from grader.batch.tasks import tasks
from grader.course.cells import answer_cells, check_cells
from grader.course.fill import filled_with
from grader.course.submitted import read_submission
from grader.course.verdicts import Verdicts, not_graded
from grader.grading import shared_grader
from grader.ingest import IngestError, Submission
from grader.launch import GraderError
from grader.pages import item_hints
from grader.pictures import Picture
from grader.report.clean import clean
from grader.report.html import Answer, page
from grader.report.model import ExerciseResult, ItemResult, Report, write_atomically
from grader.report.terminal import number
from grader.sandbox import SandboxUnavailable


class FeedbackExporter(Exporter):
    """What `nbgrader generate_feedback` writes for a notebook.

    Verdicts are those that the notebook was filled with, points those of the gradebook, so that a
    person's changes show. Nothing that a student wrote gets onto the page but as plain text.
    """

    pictures = Bool(True, help="Draw what the student's code does with real digits.").tag(
        config=True
    )
    file_extension = ".html"
    output_mimetype = "text/html"

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[Any, dict[str, Any]]:
        resources = resources or {}
        converter: Any = self.parent
        about, coursedir = resources["nbgrader"], converter.coursedir
        root, exercise, student = Path(coursedir.root), about["notebook"], about["student"]
        folder = Path(
            coursedir.format_path(coursedir.submitted_directory, student, about["assignment"])
        )
        try:
            submission = read_submission(folder, student)
        except IngestError:
            submission = Submission(student, {})
        filled = filled_with(nbformat.read(filename, as_version=4))
        result = filled.result if filled else not_graded("", exercise, "Not graded yet.").result
        environment = filled.environment if filled else not_graded("", exercise, "").environment
        with Gradebook(about["db_url"]) as gradebook:
            notebook = gradebook.find_submission_notebook(exercise, about["assignment"], student)
            result = _as_marked(result, exercise, notebook)
            answers = _answers(exercise, notebook)
            penalty = notebook.late_submission_penalty or 0.0
        report = Report(
            submission=student,
            points=result.points,
            max_points=result.max_points,
            environment=environment,
            exercises={exercise: result},
        )
        drawn = self._picture(submission, exercise, root) if self.pictures and filled else {}
        text = page(
            report,
            course.catalogue(),
            student=student,
            hints=item_hints(report),
            pictures=drawn,
            sources=submission.modules,
            answers=answers,
            remarks=_remarks(result, answers.get(exercise), penalty),
        )
        resources["output_extension"] = self.file_extension
        resources["outputs"] = _what_releasing_needs(Path(filename).parent)
        return text, resources

    def _picture(
        self, submission: Submission, exercise: str, root: Path
    ) -> dict[str, Picture | str]:
        """Drawn once for equal modules, and kept beside the batch's journal."""
        if exercise not in submission.modules:
            return {}
        verdicts = Verdicts(parent=self)
        (task,) = tasks(submission, [exercise])
        kept = root / verdicts.folder / "pictures" / f"{task.content}.json"
        if kept.is_file():
            found = msgspec.json.decode(kept.read_bytes(), type=dict[str, Picture | str])
            return found
        try:
            found = shared_grader(verdicts.sandbox).pictures(submission, [exercise])
        except (GraderError, SandboxUnavailable, OSError) as error:
            self.log.warning("No picture for %s of %s: %s", exercise, submission.name, error)
            return {}
        write_atomically(kept, msgspec.json.encode(found))
        return found


def _as_marked(result: ExerciseResult, exercise: str, notebook: Any) -> ExerciseResult:
    """A result with the gradebook's points, which a person may have changed."""
    grades = {grade.name: grade for grade in notebook.grades}
    ids = {(c.test.name, c.test.hidden): c.grade_id for c in check_cells(exercise)}
    items = [_item(item, grades.get(ids.get((item.name, item.hidden)))) for item in result.items]
    return msgspec.structs.replace(result, items=items, points=sum(item.points for item in items))


def _item(item: ItemResult, grade: Any) -> ItemResult:
    if grade is None or (grade.manual_score is None and not grade.extra_credit):
        return item
    points = float(grade.score)
    message = f"A person gave {number(points)} points here.\n{item.message}".strip()
    outcome = "passed" if points >= item.max_points else item.outcome
    return msgspec.structs.replace(
        item, points=points, message=message, outcome="failed" if outcome == "ungraded" else outcome
    )


def _answers(exercise: str, notebook: Any) -> dict[str, Answer]:
    """The marks of the written answer, and what was said of it."""
    comments = {comment.name: comment.comment or "" for comment in notebook.comments}
    for cell in answer_cells(exercise):
        for grade in notebook.grades:
            if grade.name == cell.grade_id:
                waits = grade.manual_score is None and grade.auto_score is None
                points = None if waits or grade.needs_manual_grade else float(grade.score)
                comment = clean(comments.get(cell.grade_id, ""))
                return {exercise: Answer("Written answer", points, cell.points, comment)}
    return {}


def _remarks(result: ExerciseResult, answer: Answer | None, penalty: float) -> list[str]:
    remarks = []
    total = result.points + ((answer.points or 0.0) if answer else 0.0)
    most = result.max_points + (answer.max_points if answer else 0.0)
    if answer and answer.points is None:
        remarks.append("The written answer is not marked yet.")
    elif answer:
        remarks.append(f"With the written answer: {number(total)} of {number(most)} points.")
    if penalty:
        left = number(max(0.0, total - penalty))
        remarks.append(f"Handed in late, which costs {number(penalty)} points: {left} remain.")
    return remarks


def _what_releasing_needs(autograded: Path) -> dict[str, bytes]:
    """`release_feedback` stops at a submission without these, and only the exchange adds them."""
    wanted = {
        "timestamp.txt": b"",
        "submission_secret.txt": secrets.token_hex(32).encode(),
    }
    return {name: data for name, data in wanted.items() if not (autograded / name).exists()}
