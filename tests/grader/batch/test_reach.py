"""A module that reaches for the grader is pointed out to a person; honest ones never are."""

from __future__ import annotations

import pytest

from grader.batch.reach import remarks
from grader.exercises import ROOT


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("import grader.probes.clipping", "grader"),
        ("from grader import worker", "grader"),
        ("from sys import modules", "sys.modules"),
        ("import sys\nsys.modules['x'] = 1", "sys.modules"),
        ("import importlib\nimportlib.import_module('grader.worker')", "grader"),
        ("import sys\ngetattr(sys, '_getframe')(1)", "_getframe"),
        ("def f(g):\n    return g.__closure__[0].cell_contents", "__closure__, cell_contents"),
    ],
)
def test_what_reaches_for_the_grader_is_pointed_out(source, named):
    assert remarks({"dropout": source.encode()}) == [f"dropout.py reaches for {named}: read it"]


@pytest.mark.parametrize("source", [b"def half(:", b"\xff\xfe\x00", b"(" * 5000, b""])
def test_what_is_no_python_gets_no_remark(source):
    assert remarks({"dropout": source}) == []


def test_no_module_of_the_zoo_is_pointed_out():
    zoo = [
        *(ROOT / "tests" / "zoo").glob("*/right/*.py"),
        *(ROOT / "tests" / "zoo").glob("*/wrong/*.py"),
    ]
    assert len(zoo) > 900
    assert [remark for path in zoo for remark in remarks({path.stem: path.read_bytes()})] == []
