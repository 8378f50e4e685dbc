"""`verify` proves a kit, and finds what is wrong with one that does not hold."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from grader.exercises import ROOT, Exercise, GradedTest, Item, catalogue, graded_tests
from grader.report.model import KNOWN_MISTAKE, ExerciseResult, ItemResult, Report
from grader.verify import Specimen, declared_problems, judge, specimens
from tests.grader.conftest import HIDDEN, SOLUTION, VISIBLE, Kit

EXERCISE = Exercise(1, "Title", ("a", "b", "c"))
VISIBLE_TEST = GradedTest("x", "test_a", False, Item("title", 12.0, "hint"))
HIDDEN_TEST = GradedTest("x", "test_b", True, Item("title", 8.0, "hint"))


def changed(test: GradedTest, **changes: object) -> GradedTest:
    return dataclasses.replace(test, item=dataclasses.replace(test.item, **changes))


def test_a_complete_declaration_has_no_problems():
    assert declared_problems("x", EXERCISE, [VISIBLE_TEST, HIDDEN_TEST]) == []


@pytest.mark.parametrize(
    ("exercise", "tests", "told"),
    [
        (EXERCISE, [changed(VISIBLE_TEST, title=""), HIDDEN_TEST], "no title"),
        (EXERCISE, [changed(VISIBLE_TEST, hint=""), HIDDEN_TEST], "no hint"),
        (EXERCISE, [changed(VISIBLE_TEST, points=0.0), HIDDEN_TEST], "worth nothing"),
        (EXERCISE, [changed(VISIBLE_TEST, points=11.5), HIDDEN_TEST], "add up to 19.5"),
        (EXERCISE, [VISIBLE_TEST, dataclasses.replace(HIDDEN_TEST, name="test_a")], "two items"),
        (dataclasses.replace(EXERCISE, hints=("a",)), [VISIBLE_TEST, HIDDEN_TEST], "1 hints"),
        (dataclasses.replace(EXERCISE, manual={"E": 4.0}), [VISIBLE_TEST, HIDDEN_TEST], "up to 24"),
    ],
)
def test_what_is_missing_in_a_declaration_is_named(exercise, tests, told):
    problems = declared_problems("x", exercise, tests)
    assert any(told in problem for problem in problems)


def test_every_exercise_of_this_repository_declares_what_it_should():
    for name, exercise in catalogue().items():
        assert declared_problems(name, exercise, graded_tests(name)) == []


def test_about_half_of_each_exercise_is_visible():
    for name in catalogue():
        tests = graded_tests(name)
        visible = sum(test.item.points for test in tests if not test.hidden)
        assert 0.4 <= visible / sum(test.item.points for test in tests) <= 0.6, name


def verdict(**outcomes: str) -> Report:
    items = [
        ItemResult(
            name=name,
            title=name,
            hidden=False,
            points=float(outcome == "passed"),
            max_points=1.0,
            outcome=outcome,
            message="",
            detail=f"{KNOWN_MISTAKE}halved\n" if outcome == "failed" else "",
        )
        for name, outcome in outcomes.items()
    ]
    result = ExerciseResult(points=0.0, max_points=2.0, seconds=0.0, items=items)
    return Report(
        submission="", points=0.0, max_points=2.0, environment={}, exercises={"x": result}
    )


def specimen(kind: str = "wrong", **declared: object) -> Specimen:
    path = Path("zoo") / "x" / kind / "name.py"
    return Specimen(path, "x", kind == "right", **declared)


@pytest.mark.parametrize(
    ("declared", "outcomes", "told"),
    [
        ({"loses": frozenset({"a"}), "keeps": None}, ("failed", "passed"), None),
        ({"loses": frozenset({"a"})}, ("failed", "failed"), None),
        ({"loses": frozenset({"a"}), "keeps": None}, ("failed", "failed"), "b should have passed"),
        ({"loses": frozenset({"a"}), "keeps": None}, ("passed", "failed"), "a should have failed"),
        ({"loses": frozenset({"a"})}, ("passed", "passed"), "is accepted"),
        ({"loses": frozenset({"c"})}, ("failed", "passed"), "unknown c"),
        ({"named": "halved"}, ("failed", "passed"), None),
        ({"named": "doubled"}, ("failed", "passed"), "no message names"),
        ({}, ("ungraded", "failed"), "is ungraded"),
        ({"kind": "right"}, ("passed", "passed"), None),
        ({"kind": "right"}, ("failed", "passed"), "is rejected"),
    ],
)
def test_a_specimen_is_judged_by_what_it_declares(declared, outcomes, told):
    found = judge(specimen(**declared), verdict(a=outcomes[0], b=outcomes[1]))
    if told is None:
        assert found.problems == ()
        assert found.as_expected
    else:
        assert any(told in problem for problem in found.problems), found.problems


def test_headers_are_read_over_several_lines(tmp_path):
    folder = tmp_path / "tests" / "zoo" / "x" / "wrong"
    folder.mkdir(parents=True)
    (folder / "odd.py").write_bytes(
        b"\xef\xbb\xbf# wrong: an idea that takes\n#   two lines\n# loses: test_a,\n#   test_b\n"
        b"# keeps: the rest\n# named: halved\nimport jax\n# loses: test_c\n"
    )
    (one,) = specimens(tmp_path)
    assert (one.loses, one.keeps, one.named) == ({"test_a", "test_b"}, None, "halved")


def test_the_zoo_declares_what_is_there():
    known = {name: {test.name for test in graded_tests(name)} for name in catalogue()}
    for one in specimens(ROOT):
        assert one.loses <= known[one.exercise], one.path
        assert (one.keeps or set()) <= known[one.exercise], one.path
        assert one.right or one.loses, one.path


@pytest.mark.slow
def test_adding_an_exercise_takes_a_solution_and_two_test_files(tmp_path):
    kit = Kit(tmp_path)
    for name in ("solutions", "tests/visible", "tests/hidden", "tests/mistakes"):
        for source in (ROOT / name).glob("*.py"):
            if "generic_mlp" in source.name or source.name == "__init__.py":
                (tmp_path / name).mkdir(exist_ok=True)
                (tmp_path / name / source.name).write_bytes(source.read_bytes())
    (tmp_path / "tests" / "oracles.py").write_bytes((ROOT / "tests" / "oracles.py").read_bytes())
    kit.add("scaling", SOLUTION, VISIBLE, HIDDEN)  # the toy sixth exercise
    done = kit.run("verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "solutions: 40 of 40" in done.stdout
    assert "exercises: 0 of 40" in done.stdout


@pytest.mark.slow
def test_verify_finds_a_stub_that_drifted_and_a_solution_that_fails(tmp_path):
    kit = Kit(tmp_path)
    kit.add("scaling", SOLUTION.replace("x * factor", "x + factor"), VISIBLE, HIDDEN)
    stub = tmp_path / "exercises" / "scaling.py"
    stub.write_text(stub.read_text() + "\n# an edit\n")
    done = kit.run("verify")
    assert done.returncode == 1
    assert "exercises/scaling.py is not what its solution generates" in done.stdout
    assert "solutions/scaling.py: test_scale_multiplies failed" in done.stdout
