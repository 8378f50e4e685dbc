"""The comparators accept what they say and no more; their messages keep the answer back."""

from __future__ import annotations

import numpy as np
import pytest

from grader.checks import (
    CheckFailed,
    Mistake,
    array,
    close,
    integer,
    record,
    require,
    same,
    scalar,
    tree,
)
from grader.wire import DTYPES, Opaque, Record

ONES = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "None"),
        ([1.0, 2.0], "a list of 2"),
        (1.0, "a Python float"),
        (Opaque("leaked tracer"), "leaked"),
        (ONES[0], "shape (3,)"),
        (np.ones((2, 3, 1), np.float32), "shape (2, 3, 1)"),
        (np.ones((2, 3)), "dtype float64"),
        (np.full((2, 3), np.nan, np.float32), "6 values that are NaN"),
        (np.zeros((0, 3), np.float32), "shape (0, 3)"),
    ],
)
def test_array_takes_the_exact_shape_and_dtype_and_finite_values(value, told):
    assert array(ONES, shape=(2, 3), dtype="float32") is ONES
    with pytest.raises(CheckFailed) as failed:
        array(value, shape=(2, 3), dtype="float32", what="f(x)")
    assert told in failed.value.message
    assert failed.value.message.startswith("f(x)")


def test_bfloat16_infinity_is_not_finite():
    value = np.array([1.0, np.inf]).astype(DTYPES["bfloat16"])
    with pytest.raises(CheckFailed, match="1 values"):
        array(value, dtype="bfloat16")


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.asarray(2.0), np.asarray(2)])
def test_scalar_takes_numbers_and_arrays_without_axes(value):
    assert scalar(np.asarray(value) if isinstance(value, np.generic) else value) == 2.0


@pytest.mark.parametrize("value", [True, "2", [2.0], np.ones(1), np.asarray(True), None, np.nan])
def test_scalar_refuses_everything_else(value):
    with pytest.raises(CheckFailed):
        scalar(value)


@pytest.mark.parametrize("value", [True, 2.0, np.asarray(2), None])
def test_integer_is_a_python_int(value):
    assert integer(2) == 2
    with pytest.raises(CheckFailed):
        integer(value)


def test_tree_checks_keys_shapes_and_dtypes_below_leading_axes():
    like = {"a": {"w": np.zeros((2,), np.float32)}}
    good = {"a": {"w": np.zeros((5, 2), np.float32)}}
    assert tree(good, like, leading=(5,))["a"]["w"].shape == (5, 2)
    for bad, told in [
        ({}, "lacks a"),
        ({"a": {"w": good["a"]["w"], "x": 1}}, "unexpected x"),
        ({"a": {"w": np.zeros((5, 3), np.float32)}}, "shape (5, 3)"),
        ({"a": {"w": np.zeros((5, 2))}}, "dtype float64"),
        ([], "a list"),
    ]:
        with pytest.raises(CheckFailed) as failed:
            tree(bad, like, leading=(5,))
        assert told in failed.value.message


def test_record_takes_the_named_tuple_of_the_stub():
    made = Record("Run", ("params", "losses"), (1, 2))
    assert record(made, "Run", ("params", "losses")) is made
    for bad in ((1, 2), Record("Run", ("losses", "params"), (1, 2)), None):
        with pytest.raises(CheckFailed):
            record(bad, "Run", ("params", "losses"))


@pytest.mark.parametrize("got", [np.zeros((0, 3)), 1.0, np.ones(3), None, "1", [[1.0]]])
def test_close_never_broadcasts(got):
    with pytest.raises(CheckFailed):
        close(got, np.ones((2, 3)), rtol=1, atol=1)


def test_close_is_within_and_only_within_its_tolerance():
    close(1.0 + 0.9e-3, 1.0, rtol=1e-3, atol=0)
    for got, want in [(1.0 + 1.1e-3, 1.0), (np.nan, 1.0), (np.inf, 1.0), (1.0, np.inf)]:
        with pytest.raises(CheckFailed):
            close(got, want, rtol=1e-3, atol=0)
    close(np.array([np.inf, np.nan]), np.array([np.inf, np.nan]), rtol=0, atol=0)


def test_same_sees_the_last_bit():
    same(ONES, ONES.copy())
    with pytest.raises(CheckFailed):
        same(np.nextafter(ONES, np.float32(2)), ONES)


def test_messages_do_not_hold_the_expected_value():
    with pytest.raises(CheckFailed) as failed:
        close(np.array([1.0, 2.0]), np.array([1.0, 3.14159]), rtol=1e-6, atol=0, what="f(x)")
    assert failed.value.message.startswith("f(x) differs")
    assert "3.14" not in failed.value.message


@pytest.mark.parametrize(
    ("got", "told"), [(1.005, "0.5%"), (2.02, "102%"), (40.0, "39 times"), (np.inf, "infinite")]
)
def test_an_error_is_told_as_a_share_that_reads_well(got, told):
    with pytest.raises(CheckFailed) as failed:
        close(got, 1.0, rtol=1e-6, atol=0)
    assert told in failed.value.message


@pytest.mark.parametrize(
    ("got", "told"), [(3.0, "too large"), (1.0, "too small"), (-2.0, "too small")]
)
def test_one_number_is_said_to_be_too_large_or_too_small(got, told):
    with pytest.raises(CheckFailed, match=told):
        close(got, 2.0, rtol=1e-3, atol=0)
    with pytest.raises(CheckFailed, match="differs from what is expected"):
        close({"a": np.float64(got)}, {"a": np.float64(2.0)}, rtol=1e-3, atol=0)


def test_the_one_mistake_that_matches_is_named():
    wrong = Mistake("doubled", "it is doubled.", lambda: 2 * ONES)
    other = Mistake("halved", "it is halved.", ONES / 2)
    with pytest.raises(CheckFailed) as failed:
        close(2 * ONES, ONES, rtol=1e-6, atol=0, mistakes=[wrong, other])
    assert (failed.value.mistake, "it is doubled." in failed.value.message) == ("doubled", True)


@pytest.mark.parametrize(
    "mistakes",
    [
        [Mistake("one", "one", 2 * ONES), Mistake("two", "two", 2 * ONES)],
        [Mistake("none", "none", 3 * ONES)],
        [Mistake("shape", "shape", np.ones(7))],
    ],
    ids=["ambiguous", "no match", "other shape"],
)
def test_no_mistake_is_named_unless_exactly_one_matches(mistakes):
    with pytest.raises(CheckFailed) as failed:
        close(2 * ONES, ONES, rtol=1e-6, atol=0, mistakes=mistakes)
    assert failed.value.mistake is None


def test_a_mistake_that_hardly_differs_from_the_right_answer_is_not_named():
    near = Mistake("near", "near", ONES * (1 + 2e-6))
    with pytest.raises(CheckFailed) as failed:
        close(ONES * np.float32(1 + 2.2e-6), ONES, rtol=1e-6, atol=0, mistakes=[near])
    assert failed.value.mistake is None


def test_require_fails_with_its_message():
    require(np.bool_(True), "never")
    with pytest.raises(CheckFailed, match="told"):
        require(False, "told")
