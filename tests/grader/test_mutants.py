"""The mutation tool: what it makes of the solutions, and the list of mutants that do the same."""

from __future__ import annotations

import ast

from grader.exercises import ROOT, names
from tests.instruments.mutants import equivalent, mutants


def without_docstrings(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(
            node
        ):
            del node.body[0]
    return ast.unparse(tree)


def test_every_mutant_differs_in_more_than_a_docstring() -> None:
    for name in names():
        solution = without_docstrings((ROOT / "solutions" / f"{name}.py").read_text("utf-8"))
        made = list(mutants(name))
        assert len(made) > 20
        for mutant in made:
            assert without_docstrings(mutant.source) != solution, mutant.before


def test_the_mutants_listed_as_equivalent_are_made() -> None:
    made = {(m.exercise, m.before, m.after) for name in names() for m in mutants(name)}
    assert equivalent().keys() <= made
