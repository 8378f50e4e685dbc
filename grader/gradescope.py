"""Gradescope: results as it reads them, and the autograder that it runs."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from grader.exercises import ROOT, Exercise
from grader.launch import GraderError
from grader.report.clean import clean
from grader.report.model import ItemResult, Report
from grader.sandbox import Mode

_LINES = 12
_SCRIPTS = ("setup.sh", "run_autograder")
_FILES = ("LICENSE", "README.md", "pyproject.toml", "requirements.lock", "exercises/mnist_mlp.py")
_FOLDERS = ("grader", "tests/visible", "tests/hidden", "tests/mistakes")
_EXECUTABLE = 0o100755 << 16
_READABLE = 0o100644 << 16
_EPOCH = (1980, 1, 1, 0, 0, 0)


def results(
    report: Report,
    exercises: Mapping[str, Exercise],
    hints: Mapping[tuple[str, str], str] | None = None,
) -> bytes:
    """The report as Gradescope's results.json.

    What is said of hidden items shows once marks are published, and then only their outcomes. An
    item without a verdict has no score, so that it never counts as a zero; `run_autograder` hands
    in no results at all where there is one.
    """
    tests = [
        _test(item, f"{exercises[name].order}.{number}", exercises[name].title, hint)
        for name, result in report.exercises.items()
        for number, item in enumerate(result.items, 1)
        for hint in [(hints or {}).get((name, item.name), "")]
    ]
    about = {name: value for name, value in report.environment.items() if name != "seed"}
    document: dict[str, Any] = {
        "execution_time": round(sum(result.seconds for result in report.exercises.values())),
        "output": "",
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "stdout_visibility": "hidden",
        "extra_data": {"environment": about, "max_points": report.max_points},
        "tests": tests,
    }
    if report.ungraded:
        document["output"] = (
            f"{len(report.ungraded)} items could not be graded: the autograder failed, not your "
            "code. Your instructor can run it again."
        )
    else:
        document["score"] = float(report.points)
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _test(item: ItemResult, number: str, exercise: str, hint: str) -> dict[str, Any]:
    lines = [] if item.outcome == "passed" else [clean(item.message, _LINES)]
    if hint and not item.hidden and item.outcome in ("failed", "error"):
        lines.append(f"Hint: {hint}")
    test: dict[str, Any] = {
        "number": number,
        "name": f"{exercise}: {item.title}",
        "output": "\n".join(lines),
        "visibility": "after_published" if item.hidden else "visible",
    }
    if item.outcome != "ungraded":
        test["score"] = float(item.points)
        test["max_score"] = float(item.max_points)
        test["status"] = "passed" if item.outcome == "passed" else "failed"
    return test


def build(to: Path, *, sandbox: Mode = "required", root: Path = ROOT) -> None:
    """Writes the autograder's zip: grader, tests and scripts; no solutions and no zoo.

    Raises:
      GraderError: this copy has no hidden tests.
    """
    if not any((root / "tests" / "hidden").glob("test_*.py")):
        raise GraderError("this copy has no hidden tests; build the autograder in the course's own")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in _SCRIPTS:
            text = files("grader").joinpath("templates", "gradescope", name).read_text("utf-8")
            _add(archive, name, text.replace("SANDBOX", sandbox).encode(), _EXECUTABLE)
        for path in _contents(root):
            _add(archive, path.relative_to(root).as_posix(), path.read_bytes(), _READABLE)
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(stream.getvalue())


def _contents(root: Path) -> Iterator[Path]:
    yield from (root / name for name in _FILES)
    yield from sorted((root / "tests").glob("*.py"))
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def _add(archive: zipfile.ZipFile, name: str, data: bytes, mode: int) -> None:
    """Adds a file whose bytes depend on nothing but its content, so that equal zips are equal."""
    info = zipfile.ZipInfo(name, _EPOCH)
    info.external_attr = mode
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data)
