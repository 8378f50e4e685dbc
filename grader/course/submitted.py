"""What nbgrader's `submitted/` holds, read as every submission is."""

from __future__ import annotations

from pathlib import Path

from grader import exercises as course
from grader.ingest import Submission, from_folder


def read_submission(folder: Path, student: str) -> Submission:
    """The modules in `submitted/STUDENT/ASSIGNMENT`.

    Raises:
      IngestError: the folder cannot be listed.
    """
    return from_folder(folder, list(course.catalogue()), name=student)
