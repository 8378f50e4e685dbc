"""SECURITY.md names each hostile submission and each test that proves something, by its file."""

from __future__ import annotations

import re

from tests.grader.sandbox.hostile import ROOT, cases

TEXT = (ROOT / "SECURITY.md").read_text()


def test_every_hostile_submission_is_named():
    attacks = {case.name for case in cases() if "none:" not in case.idea}
    assert {name for name in attacks if f"`{name}`" not in TEXT} == set()


def test_what_is_named_exists():
    known = {case.name for case in cases()}
    for line in TEXT.splitlines():
        if "hostile `" in line:
            proofs = line.rpartition("hostile ")[2].partition(";")[0]
            names = set(re.findall(r"`([a-z0-9_]+)`", proofs))
            assert names <= known, names - known
    for path in re.findall(r"`((?:sandbox/)?test_\w+\.py)`", TEXT):
        assert (ROOT / "tests" / "grader" / path).is_file(), path
