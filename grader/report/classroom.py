"""The report for GitHub Classroom's reporter: one runner's result, base64 of JSON.

`python -m grader.report.classroom results.json` prints it; see `docs/github-classroom.yml`.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Any

import msgspec

from grader.report.clean import clean
from grader.report.model import ItemResult, Report, from_json


def encode(report: Report) -> str:
    """What the reporter takes as a runner's result; one line."""
    tests = [_test(name, item) for name, each in report.exercises.items() for item in each.items]
    status = "error" if report.ungraded else "pass" if report.complete else "fail"
    document = {
        "version": 1,
        "status": status,
        "max_score": report.max_points,
        "tests": tests,
    }
    return base64.b64encode(msgspec.json.encode(document)).decode()


def _test(exercise: str, item: ItemResult) -> dict[str, Any]:
    status = {"passed": "pass", "ungraded": "error"}.get(item.outcome, "fail")
    return {
        "name": f"{exercise}: {item.title}",
        "status": status,
        "score": item.points,
        "message": clean(item.message, 6),
        "test_code": "",
        "filename": f"{exercise}.py",
        "line_no": 0,
        "execution_time": 0,
    }


if __name__ == "__main__":
    print(encode(from_json(Path(sys.argv[1]).read_bytes())))
