"""Whatever a worker says that a probe observed, an item gets a verdict.

Anything but a verdict reads as a fault of the grader's and spares the submission its zero.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from grader.checks import CheckFailed, reported
from grader.exercises import GradedTest, graded_tests
from grader.launch import deadline_in
from grader.pictures import Digits, picture
from grader.student import Student, StudentFault
from grader.wire import Opaque, Record

JUNK: list[Any] = [
    *(None, True, -1, 0, 2**63, 0.0, float("inf"), "x", b"x", [], {}, (), Opaque("x")),
    *([1, 2], (1, 2, 3), np.array([1, 2]), np.array([], np.float32), np.array(1j)),
    np.array([True, False]),
    Record("Run", ("a", "b"), (1, 2)),
]
TIMES = ("eager_seconds", "jit_seconds", "first_call_seconds", "compile_seconds", "speedup")
LINE = {
    **{"axes": 0, "x": np.arange(30.0), "y": np.full(30, 1.0), "label": "a", "visible": True},
    "style": {"colour": "a", "line": "-", "marker": "None"},
}
FIGURE = {
    **{"type": "Figure", "is_figure": True, "left_open": 0, "windows": 0, "settings": []},
    "axes": [
        {
            **{"title": "", "x": "step", "y": "norm"},
            **{"xlim": [-1.0, 99.0], "ylim": [0.0, 99.0], "position": [0.0, 0.0, 1.0, 1.0]},
        }
    ],
    "labels": {"x": "", "y": ""},
    "lines": [LINE, {**LINE, "label": "b"}],
    "legends": [{"axes": 0, "entries": [{"text": "a", "style": LINE["style"]}] * 2}],
}
RUN = Record("Run", ("params", "losses", "grad_norms"), ({}, np.ones(64), np.ones(64)))
NEARLY: dict[str, list[Any]] = {
    "clipping": [
        FIGURE,
        {"optax": True, "updates": [[{}]]},
        Record(
            "Recorded",
            ("result", "gradients", "loss_calls", "update_calls"),
            (RUN, np.ones((64, 14, 12)), 1, 1),
        ),
    ],
    "jit_benchmark": [
        {"result": Record("Benchmark", TIMES, (1.0,) * 5), "counts": {"eager": 4}},
        {"result": Record("Benchmark", TIMES, (0.0,) * 5), "counts": {}},
        {"result": Record("Benchmark", TIMES, (0.0, 1.0, 0.0, 0.0, 0.0)), "counts": {}},
        *([{"params": {}, "losses": [1.0]}] * n for n in (1, 2, 3)),
        [{"params": {}, "loss": 1.0}] * 2,
        [False] * 5,
        {"jitted": 0, "made": [1, 1], "traced": [1, 1], "control": False},
    ],
}
ITEMS = [test for name in NEARLY for test in graded_tests(name)]


class Puppet:
    """A worker whose every call has one and the same value."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self.reported = False

    def request(self, message: Any, deadline: float) -> dict[str, Any]:
        self.reported = self.reported or message.get("target", "?")[0] == "probe"
        return {"value": self._value, "changed": ()}

    def output(self) -> str:
        return ""

    def close(self) -> None:
        pass


def with_junk(value: Any) -> Iterator[Any]:
    """`value` with each of its parts replaced by junk, one at a time."""
    yield value
    yield from JUNK
    if isinstance(value, dict):
        for key, part in value.items():
            yield {name: other for name, other in value.items() if name != key}
            yield from ({**value, key: other} for other in with_junk(part))
    elif isinstance(value, list) and value:
        yield value[1:]
        yield from ([other, *value[1:]] for other in with_junk(value[0]))
    elif isinstance(value, Record):
        for index, part in enumerate(value.values):
            for other in with_junk(part):
                values = [*value.values[:index], other, *value.values[index + 1 :]]
                yield Record(value.type_name, value.fields, tuple(values))


def asks_a_probe(test: GradedTest, value: Any) -> bool:
    """Runs an item whose submission answers everything with `value`; whether it asks a probe."""
    folder = "hidden" if test.hidden else "visible"
    function = getattr(importlib.import_module(f"tests.{folder}.test_{test.exercise}"), test.name)
    puppet = Puppet(value)
    student = Student(test.exercise, {}, lambda: (puppet, "/tmp"))
    student.begin(deadline_in(60))
    extra = {"benchmark": None} if "benchmark" in function.__code__.co_varnames else {}
    try:
        function(student, np.random.default_rng(0), **extra)
    except (CheckFailed, StudentFault):
        pass
    return puppet.reported


@pytest.mark.parametrize("test", ITEMS, ids=lambda test: f"{test.exercise}-{test.name}")
def test_any_report_gets_a_verdict(test):
    if test.name == "test_jitted_step_is_fast":
        pytest.skip("it looks at times alone")
    values = [value for nearly in NEARLY[test.exercise] for value in with_junk(nearly)]
    # Every so many: the reports are the same to items that do not look at them.
    for value in itertools.islice(values, len(test.name) % 3, None, 3):
        if not asks_a_probe(test, value):
            break


@pytest.mark.parametrize(
    ("value", "like"),
    [
        (True, int),
        (1, bool),
        ((1, 2), [int, int]),
        ([1], [int, int]),
        ({"a": 1, "b": 2}, {"a": int}),
        ({"a": [1.0]}, {"a": [int]}),
        (np.ones(1), list),
    ],
)
def test_a_report_of_another_form_is_refused(value, like):
    with pytest.raises(CheckFailed, match="could not be observed"):
        reported(value, like)
    assert reported({"a": [1, value]}, {"a": [int, object]}) == {"a": [1, value]}


def test_what_cannot_be_drawn_costs_the_picture_alone(monkeypatch):
    """Indices that are floats, or complex, would end the feedback for a whole course."""
    digits = Digits(np.zeros((2000, 784), np.float32), np.zeros(2000, np.int32))
    monkeypatch.setattr("grader.pictures.digits", lambda: digits)
    for indices in (np.arange(32.0), np.arange(32) * 1j):
        value = indices, np.ones(32, np.float32)
        student = Student("per_example_grads", {}, lambda value=value: (Puppet(value), "/tmp"))
        student.begin(deadline_in(60))
        assert "cannot be drawn" in str(picture("per_example_grads", student))
