"""Stubs are what solutions leave out, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from grader.kit import stub_drift, stub_source, write_stubs

ROOT = Path(__file__).parents[2]

SOLUTION = '''\
"""Exercise 9: doubling."""

import math


### BEGIN SOLUTION
def _helper(x):
    return 2 * x


### END SOLUTION


def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    # A comment of the solution.
    return _helper(x)
    ### END SOLUTION


def make_double(factor):
    """A function."""

    ### BEGIN SOLUTION
    def doubled(x):
        return factor * x

    return doubled
    ### END SOLUTION


def make_triple():
    def tripled(x):
        ### BEGIN SOLUTION
        return 3 * x
        ### END SOLUTION

    return tripled


### BEGIN SOLUTION
EXPLANATION = (
    "Because two "
    "is twice one."
)
### END SOLUTION

if __name__ == "__main__":
    print(double(2))
'''

STUB = '''\
"""Exercise 9: doubling."""

import math


def double(x):
    """Twice x."""
    raise NotImplementedError("double is not written yet")


def make_double(factor):
    """A function."""
    raise NotImplementedError("make_double is not written yet")


def make_triple():
    def tripled(x):
        raise NotImplementedError("tripled is not written yet")

    return tripled


EXPLANATION = ""

if __name__ == "__main__":
    print(double(2))
'''


def test_a_stub_has_the_frame_of_its_solution_and_none_of_the_answer():
    assert stub_source(SOLUTION) == STUB


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n", "nothing is left for the student"),
        ("### BEGIN SOLUTION\nx = 1\n", "line 1: ### BEGIN SOLUTION without"),
        ("x = 1\n### END SOLUTION\n", "line 2: ### END SOLUTION without"),
        (
            "### BEGIN SOLUTION\nx = 1\n### BEGIN SOLUTION\n### END SOLUTION\n",
            "line 3: ### BEGIN SOLUTION inside a region",
        ),
        (
            "### BEGIN SOLUTION\n# later\n### END SOLUTION\n",
            "line 1: the region holds no statement",
        ),
        ("### BEGIN SOLUTION\nx = = 1\n### END SOLUTION\n", "line 2: invalid syntax"),
        (
            "class Empty:\n    ### BEGIN SOLUTION\n    x = 1\n    ### END SOLUTION\n",
            "line 1: expected an indented block",
        ),
    ],
)
def test_a_solution_that_gives_no_stub_is_refused_with_its_line(source, message):
    with pytest.raises(ValueError, match=message):
        stub_source(source)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "solutions").mkdir()
    (tmp_path / "exercises").mkdir()
    (tmp_path / "solutions" / "doubling.py").write_text(SOLUTION)
    return tmp_path


def test_writing_makes_the_stubs_and_touches_only_what_changed(root):
    stub = root / "exercises" / "doubling.py"
    assert write_stubs(root) == [stub]
    assert stub.read_text() == STUB
    assert write_stubs(root) == []
    assert [path.name for path in (root / "exercises").iterdir()] == ["doubling.py"]


def test_drift_names_the_stub(root):
    expected = ["exercises/doubling.py"]
    assert stub_drift(root) == expected
    write_stubs(root)
    assert stub_drift(root) == []
    (root / "exercises" / "doubling.py").write_text(STUB.replace("Twice", "Thrice"))
    assert stub_drift(root) == expected


def test_one_bad_solution_leaves_every_stub_alone(root):
    (root / "solutions" / "tripling.py").write_text("x = 1\n")
    with pytest.raises(ValueError, match=r"solutions/tripling\.py: no line reads"):
        write_stubs(root)
    assert list((root / "exercises").iterdir()) == []


def test_the_students_kit_has_no_solutions_and_no_drift(tmp_path):
    assert stub_drift(tmp_path) == []
    assert write_stubs(tmp_path) == []


def test_stubs_in_this_repository_match_their_solutions():
    assert stub_drift(ROOT) == []


def test_stubs_import_by_themselves_and_keep_no_trace_of_the_markers():
    stubs = [path.stem for path in (ROOT / "solutions").glob("*.py")]
    # In a process of its own: the one that tests must not import jax.
    subprocess.run(
        [sys.executable, "-c", f"import {', '.join(stubs)}"], cwd=ROOT / "exercises", check=True
    )
    for stub in stubs:
        source = (ROOT / "exercises" / f"{stub}.py").read_text(encoding="utf-8")
        assert "is not written yet" in source
        assert "SOLUTION" not in source
