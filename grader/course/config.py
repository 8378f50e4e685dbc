"""What nbgrader has to be told about this course."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from traitlets.config import Config

from grader import exercises as course
from grader.course.cells import ASSIGNMENT

_STOCK = "nbgrader.preprocessors."
_OURS = "grader.course."


def configure(c: Config, root: Path) -> None:
    """Sets `c` up for the course in the folder `root`; what is set later wins."""
    _put_alembic_on_path()
    c.CourseDirectory.course_id = ASSIGNMENT
    c.CourseDirectory.root = str(root)
    # Without a timeout a second process ends a whole run with "database is locked".
    c.CourseDirectory.db_url = f"sqlite:///{root}/gradebook.db?timeout=60"
    c.IncludeHeaderFooter.header = "source/header.ipynb"

    c.Autograde.exclude_overwriting = {ASSIGNMENT: [f"{name}.py" for name in course.catalogue()]}
    c.Autograde.exporter_class = f"{_OURS}rebuild.PatientExporter"
    c.Autograde.pre_convert_hook = f"{_OURS}complete.before_autograding"
    c.Autograde.sanitize_preprocessors = [
        f"{_OURS}rebuild.RebuildFromRelease",
        f"{_STOCK}ClearOutput",
        f"{_STOCK}DeduplicateIds",
        f"{_STOCK}OverwriteKernelspec",
        f"{_STOCK}OverwriteCells",
        f"{_STOCK}CheckCellMetadata",
    ]
    c.Autograde.autograde_preprocessors = [
        f"{_OURS}fill.FillFromResults",
        f"{_STOCK}LimitOutput",
        f"{_OURS}fill.SaveGrades",
        f"{_STOCK}AssignLatePenalties",
        f"{_STOCK}CheckCellMetadata",
    ]
    c.AssignLatePenalties.plugin_class = f"{_OURS}late.LateByRate"
    c.GenerateFeedback.exporter_class = f"{_OURS}feedback.FeedbackExporter"
    c.GenerateFeedback.preprocessors = []

    c.ZipCollectApp.extractor_plugin = f"{_OURS}collect.LmsExtractor"
    c.ExchangeFactory.collect = f"{_OURS}collect.CompletingCollect"
    c.FileNameCollectorPlugin.named_regexp = (
        r".*/extracted/(?P<student_id>[^/]+)/(?P<file_id>[^/]+)$"
    )
    c.FileNameCollectorPlugin.valid_ext = [".ipynb", ".py", ".txt"]


def _put_alembic_on_path() -> None:
    """nbgrader runs `alembic` by its bare name, also where its environment is not activated."""
    here = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", "")
    if here not in path.split(os.pathsep):
        os.environ["PATH"] = f"{here}{os.pathsep}{path}"
