"""Grades mutants of the solutions: each must lose points, or be listed as equivalent with a reason.

    python -m tests.instruments.mutants [-x EXERCISE] [--every N]

A mutant changes one place between `### BEGIN SOLUTION` and `### END SOLUTION`: cosmic-ray's
operators change arithmetic, comparisons, numbers, decorators and loops; the ones here delete a
statement, leave out a keyword argument, or put a call's first argument in the place of the call.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from rich.console import Console
from rich.progress import Progress

from grader import kit
from grader.exercises import ROOT, names
from grader.grading import shared_grader
from grader.ingest import Submission

EQUIVALENT = Path(__file__).with_name("mutants.toml")
_OPERATORS = [
    f"core/{name}"
    for name in (
        *(f"ReplaceBinaryOperator_{pair}" for pair in (
            "Add_Sub", "Sub_Add", "Mul_Div", "Mul_Add", "Div_Mul", "Div_Sub", "FloorDiv_Mul",
            "Mod_FloorDiv", "Pow_Mul",
        )),
        *(f"ReplaceComparisonOperator_{pair}" for pair in (
            "Eq_NotEq", "NotEq_Eq", "Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE",
            "GtE_Gt", "GtE_Lt", "Is_IsNot", "IsNot_Is",
        )),
        *("ReplaceUnaryOperator_Delete_USub", "ReplaceUnaryOperator_Delete_Not", "AddNot"),
        *("ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd"),
        *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak"),
        *("NumberReplacer", "RemoveDecorator", "ZeroIterationForLoop"),
    )
]  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A changed solution; `before` and `after` are what the change makes of one piece of code."""

    exercise: str
    source: str
    before: str
    after: str


def mutants(exercise: str) -> Iterator[Mutant]:
    """The mutants of one solution, each once."""
    source = (ROOT / "solutions" / f"{exercise}.py").read_text("utf-8")
    seen = {ast.dump(ast.parse(source))}
    for mutated in (*_by_operators(source), *_by_structure(source)):
        try:
            tree = ast.dump(ast.parse(mutated))
        except SyntaxError:
            continue
        if tree not in seen:
            seen.add(tree)
            yield Mutant(exercise, mutated, *_difference(source, mutated))


def _by_operators(source: str) -> Iterator[str]:
    lines = source.splitlines()
    inside = _region_lines(lines)
    for name in _OPERATORS:
        operator, occurrence = get_operator(name)(), 0
        while mutated := mutate_code(source, operator, occurrence):
            occurrence += 1
            changed = [
                number
                for number, (old, new) in enumerate(
                    zip(lines, mutated.splitlines(), strict=False), start=1
                )
                if old != new
            ]
            if changed and changed[0] in inside:
                yield mutated


def _by_structure(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    inside = _region_lines(source.splitlines())
    for number, node in enumerate(ast.walk(tree)):
        if getattr(node, "lineno", 0) not in inside:
            continue
        if isinstance(node, ast.Call):
            for index in range(len(node.keywords)):
                yield _changed(tree, number, lambda call, i=index: call.keywords.pop(i))
            if node.args and not isinstance(node.args[0], ast.Starred):
                yield _changed(tree, number, None, replace=node.args[0])
        for field in ("body", "orelse"):
            statements = getattr(node, field, None)
            if isinstance(statements, list) and len(statements) > 1:
                for index in _executed(statements):
                    yield _changed(
                        tree, number, lambda block, f=field, i=index: getattr(block, f).pop(i)
                    )
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.FunctionDef) and getattr(node, "lineno", 0) not in inside:
            for index in _executed(node.body):
                if node.body[index].lineno in inside and len(node.body) > 1:
                    yield _changed(tree, number, lambda block, i=index: block.body.pop(i))


def _executed(statements: list[ast.stmt]) -> Iterator[int]:
    """The places of statements that do something: docstrings do not."""
    for index, statement in enumerate(statements):
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            yield index


def _changed(tree: ast.Module, number: int, change, replace: ast.expr | None = None) -> str:
    """The source of a copy of `tree` whose node `number` (in walking order) is changed."""
    mutated = copy.deepcopy(tree)
    node = list(ast.walk(mutated))[number]
    if replace is not None:
        _Replace(node, node.args[0]).visit(mutated)  # type: ignore[attr-defined]
    else:
        change(node)
    return ast.unparse(mutated)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)


def _region_lines(lines: list[str]) -> set[int]:
    inside, numbers = False, set()
    for number, line in enumerate(lines, start=1):
        if line.strip() in (kit.BEGIN, kit.END):
            inside = line.strip() == kit.BEGIN
        elif inside:
            numbers.add(number)
    return numbers


def _difference(source: str, mutated: str) -> tuple[str, str]:
    """The lines that differ, written as Python would write them."""
    old, new = (ast.unparse(ast.parse(text)).splitlines() for text in (source, mutated))
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return " / ".join(line.strip() for line in old), " / ".join(line.strip() for line in new)


def survives(mutant: Mutant) -> bool:
    """Whether a mutant keeps all of its points."""
    submission = Submission("mutant", {mutant.exercise: mutant.source.encode()})
    return shared_grader().grade(submission, exercises=[mutant.exercise]).complete


def equivalent() -> dict[tuple[str, str, str], str]:
    """Reasons of the mutants that do what the solution does, by exercise, before and after."""
    listed = tomllib.loads(EQUIVALENT.read_text("utf-8"))
    return {
        (exercise, entry["before"], entry["after"]): entry["reason"]
        for exercise, entries in listed.items()
        for entry in entries
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-x", "--exercise", action="append", choices=names())
    parser.add_argument("--every", type=int, default=1, help="only every so-manieth mutant")
    chosen = parser.parse_args()
    console, known = Console(), equivalent()
    every = [m for name in chosen.exercise or names() for m in mutants(name)]
    found = [m for m in every if (m.exercise, m.before, m.after) not in known][:: chosen.every]
    survivors = []
    with (
        Progress(console=console, transient=True) as progress,
        ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool,
    ):
        task = progress.add_task("Mutants", total=len(found))
        running = {pool.submit(survives, mutant): mutant for mutant in found}
        for future in as_completed(running):
            progress.advance(task)
            if future.result():
                survivors.append(running[future])
    for mutant in sorted(survivors, key=lambda m: (m.exercise, m.before)):
        console.print(f"survives: {mutant.exercise}: {mutant.before}", markup=False)
        console.print(f"       as: {mutant.after}", markup=False)
    console.print(
        f"mutants: {len(found) - len(survivors)} of {len(found)} killed,"
        f" {len(every) - len(found) if chosen.every == 1 else len(known)} listed as equivalent"
    )
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
