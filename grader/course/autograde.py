"""`make autograde`: the batch grades in parallel, then nbgrader records.

    python -m grader.course.autograde COURSE [--workers N]

Either half may be interrupted and run again: what is done is not done twice.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from traitlets.config.loader import PyFileConfigLoader

from grader import exercises as course
from grader.batch import progress
from grader.batch.run import BatchError, run
from grader.batch.tasks import tasks
from grader.course.answers import readable_notebook
from grader.course.cells import ASSIGNMENT
from grader.course.complete import complete_all
from grader.course.fill import digest, filled_with
from grader.course.generate import CONFIG
from grader.course.submitted import read_submission
from grader.course.verdicts import Verdicts, recorded
from grader.ingest import IngestError


def main() -> int:
    """Exit status: 0 everybody is graded and recorded, 2 somebody is not, or nobody could be."""
    parser = argparse.ArgumentParser(prog="make autograde", description=__doc__.splitlines()[0])
    parser.add_argument("course", type=Path, help="the folder with nbgrader_config.py")
    parser.add_argument("--workers", type=int, help="submissions at a time (one a core)")
    chosen = parser.parse_args()
    return autograde(chosen.course.resolve(), chosen.workers)


def autograde(root: Path, workers: int | None = None) -> int:
    """Grades and records what is in the `submitted/` of the course at `root`."""
    console = Console(stderr=True)
    problem = ""
    if not (root / CONFIG).is_file():
        problem = f"{root} is no course; make one: make course DIR={root}"
    elif not (root / "release" / ASSIGNMENT).is_dir():
        problem = f"nothing is released; first: nbgrader generate_assignment {ASSIGNMENT}"
    if problem:
        return _fail(problem)
    verdicts = Verdicts(config=PyFileConfigLoader(CONFIG, path=str(root)).load_config())
    for path in complete_all(root):
        console.print(f"Added the released {path.relative_to(root)}", markup=False)
    try:
        with progress.TerminalWatcher(console) as watcher:
            lines = run(
                root / "submitted",
                root / verdicts.folder,
                workers=workers,
                resume=True,
                sandbox=verdicts.sandbox,
                watcher=watcher,
                grader=verdicts.grader,
            )
    except BatchError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return _fail("interrupted; go on with the same command")
    progress.show(lines, Console())
    for folder in _stale(root, verdicts.folder):
        shutil.rmtree(folder)
    command = [sys.executable, "-m", "nbgrader", "autograde", ASSIGNMENT]
    status = subprocess.run(command, cwd=root, check=False).returncode
    if status:
        return _fail("nbgrader could not record everybody: see above")
    return 0 if all(line.graded for line in lines) else 2


def _stale(root: Path, graded: str) -> Iterator[Path]:
    """What nbgrader recorded of submissions that are not, or are not marked, the same any more.

    nbgrader goes by timestamps, which neither a new copy of a file nor a mended test changes.
    """
    for folder in sorted((root / "autograded").glob(f"*/{ASSIGNMENT}")):
        submitted = root / "submitted" / folder.parent.name / ASSIGNMENT
        if submitted.is_dir() and not _is_current(folder, submitted, root / graded):
            yield folder


def _is_current(folder: Path, submitted: Path, graded: Path) -> bool:
    student = submitted.parent.name
    try:
        submission = read_submission(submitted, student)
    except IngestError:
        return False
    for task in tasks(submission, course.catalogue()):
        notebook = readable_notebook(folder / f"{task.exercise}.ipynb")
        filled = filled_with(notebook) if notebook else None
        verdict = recorded(graded, task)
        if not (
            filled
            and verdict
            and filled.content == task.content
            and filled.notebook == digest(submitted / f"{task.exercise}.ipynb")
            and filled.result.items == verdict.result.items
        ):
            return False
    return True


def _fail(message: str) -> int:
    print(f"jaxlings: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
