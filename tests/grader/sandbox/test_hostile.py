"""Hostile submissions: each gets its verdict, learns nothing, leaves nothing and harms nobody.

All of `tests/zoo/hostile` is graded under the strongest sandbox of this machine, and under every
other that is strong enough for others' code what the sandbox has to stop. With the environment's
`JAXLINGS_HOSTILE=all` everything is graded under each.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox import Sandbox
from tests.grader.sandbox import inside
from tests.grader.sandbox.hostile import Case, HostileKit, cases

pytestmark = pytest.mark.slow

SANDBOXES = [sandbox for sandbox in inside.working() if sandbox.confines]
PAIRS = [
    pytest.param(sandbox, case, id=f"{case.name}-{sandbox.name}")
    for sandbox in SANDBOXES
    for case in cases()
    if sandbox == SANDBOXES[0] or case.each_sandbox or os.environ.get("JAXLINGS_HOSTILE") == "all"
]
MAX_MEMORY = 1024  # MiB of the trusted process, which a frame of 256 MiB may pass through
each = pytest.mark.parametrize(("sandbox", "case"), PAIRS)


@pytest.fixture(scope="module")
def kit() -> Iterator[HostileKit]:
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        Path(folder).chmod(0o755)
        yield HostileKit(Path(folder, "kit"))


@pytest.fixture(scope="module")
def graded(kit: HostileKit):
    """What became of each submission under a sandbox, all graded at the first question."""

    @cache
    def results(sandbox: Sandbox) -> dict[str, dict[str, Any]]:
        names = [pair.values[1].name for pair in PAIRS if pair.values[0] == sandbox]
        return {result["name"]: result for result in kit.grade(sandbox.layers, names)}

    return results


@each
def test_it_gets_its_verdict(graded, sandbox: Sandbox, case: Case):
    for item in graded(sandbox)[case.name]["items"]:
        kept = item["name"] in case.keeps and item["outcome"] == "passed"
        assert kept or item["outcome"] in case.outcomes, (item["name"], item["outcome"])
        assert item["points"] == (item["max_points"] if item["outcome"] == "passed" else 0)


@each
def test_it_learns_nothing(graded, kit: HostileKit, sandbox: Sandbox, case: Case):
    result = graded(sandbox)[case.name]
    # What it found or managed it says in the text of an exception, which the instructor sees.
    assert kit.canary not in json.dumps(result["items"])
    assert "CANARY-" not in json.dumps(result["items"])
    assert result["connections"] == 0


@each
def test_it_leaves_nothing(graded, sandbox: Sandbox, case: Case):
    result = graded(sandbox)[case.name]
    assert result["processes"] == 0
    assert result["files"] == []


@each
def test_its_text_is_clean(graded, sandbox: Sandbox, case: Case):
    for item in graded(sandbox)[case.name]["items"]:
        for text in (item["message"], item["detail"]):
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
        assert len(item["message"]) < 2000
        assert len(item["detail"]) < 50_000
        if item["hidden"] and item["outcome"] != "passed":
            assert item["message"] == "A hidden test did not pass."


@pytest.mark.parametrize("sandbox", SANDBOXES, ids=lambda sandbox: sandbox.name)
def test_the_submission_after_it_is_graded_right(graded, sandbox: Sandbox):
    results = graded(sandbox).values()
    assert {result["points"] for result in results if result["name"] == "first"} == {20}
    assert {result["control"] for result in results if "control" in result} == {20}
    assert max(result.get("peak", 0) for result in results) < MAX_MEMORY
