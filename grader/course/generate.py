"""Writes a course that nbgrader's commands work on."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from grader import kit
from grader.course import notebooks
from grader.course.cells import ASSIGNMENT
from grader.exercises import ROOT, names
from grader.launch import GraderError
from grader.release import leaks
from grader.report.model import write_atomically

CONFIG = "nbgrader_config.py"

_CONFIG = '''\
"""nbgrader's configuration; `python -m grader course` wrote it and will not touch it again."""

from pathlib import Path

try:
    from grader.course.config import configure
except ImportError as error:  # with nbgrader's defaults students' code would run unconfined
    raise SystemExit("jaxlings is missing here: activate the environment of make setup") from error

c = get_config()  # noqa: F821
configure(c, Path(__file__).resolve().parent)

# What a course may want otherwise:
# c.CourseDirectory.db_url = "postgresql://grader@localhost/gradebook"
# c.Exchange.root = "/srv/nbgrader/exchange"
# c.LateByRate.per_day = 0.1     # of the points, for each day begun
# c.LateByRate.grace_hours = 1.0
# c.Verdicts.sandbox = "auto"    # where the sandbox that is required by default cannot be had
# c.FeedbackExporter.pictures = False
'''


def generate(to: Path, root: Path = ROOT) -> Path:
    """Writes `nbgrader_config.py` and `source/` into the folder `to`; returns `source/jax`.

    An older `source/jax` is replaced; a configuration that is there already stays as it is.

    Raises:
      GraderError: there are no solutions here to make stubs from, or the course would leak.
      OSError: `to` cannot be written.
    """
    if not (root / "solutions").is_dir():
        raise GraderError("a course is made from solutions/, which a students' kit does not have")
    source = to / "source"
    source.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to, prefix=".course-") as scratch:
        fresh = Path(scratch) / ASSIGNMENT
        fresh.mkdir()
        _write(fresh, root)
        if found := list(leaks(fresh, root)):
            raise GraderError(f"the course would leak, so it was not written: {'; '.join(found)}")
        target = source / ASSIGNMENT
        if target.exists():
            target.rename(Path(scratch) / "old")
        fresh.rename(target)
    write_atomically(source / "header.ipynb", notebooks.text_of(notebooks.header()).encode())
    if not (to / CONFIG).exists():
        write_atomically(to / CONFIG, _CONFIG.encode())
    return target


def _write(folder: Path, root: Path) -> None:
    shutil.copy(root / "exercises" / "mnist_mlp.py", folder)
    for name in names(root):
        stub = kit.stub_source((root / "solutions" / f"{name}.py").read_text("utf-8"))
        (folder / f"{name}.py").write_text(stub, "utf-8")
        book = notebooks.notebook(name, stub)
        (folder / f"{name}.ipynb").write_text(notebooks.text_of(book), "utf-8")
