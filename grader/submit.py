"""The zip that a student hands in: the modules and a manifest of what they are."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grader.exercises import ROOT, names
from grader.ingest import Submission, ingest
from grader.report.model import Report, write_atomically

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Packed:
    """A written zip and what its owner should know about it."""

    path: Path
    warnings: tuple[str, ...]


def pack(folder: Path, to: Path, report: Report | None, root: Path = ROOT) -> Packed:
    """Writes the modules of `folder` and a manifest into the zip `to`.

    Nothing is refused: what is missing, refused or not written is a warning. `report` is what
    the student saw for these modules, None where they could not be graded.

    Raises:
      IngestError: `folder` cannot be read.
      OSError: `to` cannot be written.
    """
    submission = ingest(folder, names(root))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, source in sorted(submission.modules.items()):
            file.writestr(f"{name}.py", source)
        manifest = _manifest(submission, report)
        file.writestr(MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False))
    write_atomically(to, archive.getvalue())
    return Packed(to, tuple(_warnings(submission, root)))


def _manifest(submission: Submission, report: Report | None) -> dict[str, Any]:
    return {
        "schema": 1,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "modules": {
            name: {
                "sha256": hashlib.sha256(source).hexdigest(),
                "bytes": len(source),
                "unwritten": unwritten(source),
                "points_seen": _points(report, name),
            }
            for name, source in sorted(submission.modules.items())
        },
        "environment": report.environment if report else {},
    }


def _points(report: Report | None, name: str) -> Mapping[str, float] | None:
    found = report.exercises.get(name) if report else None
    return {"points": found.points, "max_points": found.max_points} if found else None


def _warnings(submission: Submission, root: Path) -> list[str]:
    warnings = []
    for name in names(root):
        if name in submission.problems:
            warnings.append(f"{name}.py is left out: {submission.problems[name]}")
        elif name not in submission.modules:
            warnings.append(f"{name}.py is missing")
        elif left := unwritten(submission.modules[name]):
            warnings.append(f"{name}.py: not written yet: {', '.join(left)}")
    return warnings


def unwritten(source: bytes) -> list[str]:
    """The functions that still raise NotImplementedError as the stub did; none if it is no Python.

    A comparison with the stub is no help here: the student works in the only copy there is.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [function.name for function in functions if _is_open(function)]


def _is_open(function: ast.FunctionDef) -> bool:
    last = function.body[-1]
    if not isinstance(last, ast.Raise) or not isinstance(last.exc, ast.Call):
        return False
    return isinstance(last.exc.func, ast.Name) and last.exc.func.id == "NotImplementedError"
