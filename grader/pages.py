"""The page of a submission's report, pictures of its own code included."""

from __future__ import annotations

from grader import exercises as course
from grader.grading import Grader
from grader.ingest import Submission
from grader.report import html
from grader.report.model import Report


def item_hints(report: Report) -> dict[tuple[str, str], str]:
    """The hints of a report's items, by exercise and name."""
    tests = (test for name in report.exercises for test in course.graded_tests(name))
    return {(test.exercise, test.name): test.item.hint for test in tests}


def student_page(report: Report, submission: Submission, grader: Grader | None = None) -> str:
    """The page for the student whose submission was graded; pictures are drawn with `grader`."""
    pictures = grader.pictures(submission, list(report.exercises)) if grader else {}
    return html.page(
        report,
        course.catalogue(),
        hints=item_hints(report),
        pictures=pictures,
        sources=submission.modules,
    )
