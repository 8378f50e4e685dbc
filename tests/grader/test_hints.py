"""Hints come one at a time, and the last one stays."""

from __future__ import annotations

import json

import pytest

from grader.exercises import ROOT, catalogue
from grader.hints import next_hint


@pytest.fixture
def root(tmp_path):
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    return tmp_path


def test_each_call_gives_the_next_hint_and_then_the_last_again(root):
    hints = catalogue()["dropout"].hints
    shown = [next_hint("dropout", root) for _ in range(len(hints) + 2)]
    assert [hint.text for hint in shown] == [*hints, hints[-1], hints[-1]]
    assert [hint.number for hint in shown] == [1, 2, 3, 3, 3]
    assert next_hint("clipping", root).number == 1


@pytest.mark.parametrize("memory", [b"not json", b"[]", b'{"dropout": "two"}', b'{"dropout": -3}'])
def test_a_spoilt_memory_starts_over(root, memory):
    (root / "build").mkdir()
    (root / "build" / "hints.json").write_bytes(memory)
    assert next_hint("dropout", root).number == 1


def test_what_was_shown_is_remembered_by_exercise(root):
    next_hint("dropout", root)
    next_hint("clipping", root)
    next_hint("dropout", root)
    assert json.loads((root / "build" / "hints.json").read_bytes()) == {"dropout": 2, "clipping": 1}


def test_every_exercise_has_three_different_hints_and_no_code():
    for name, exercise in catalogue().items():
        assert len(set(exercise.hints)) >= 3, name
        for hint in exercise.hints:
            assert "def " not in hint
            assert "return " not in hint
