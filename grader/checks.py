"""Strict comparisons for graded tests, whose failures are sentences for a student.

What a worker returns is untrusted: it is checked for type, then shape and dtype, then finiteness,
and only then compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from grader.wire import DTYPES, Opaque, Record

_INTEGERS = "iu"
_FLOATS = {np.dtype("float16"), np.dtype("float32"), np.dtype("float64"), DTYPES["bfloat16"]}


class CheckFailed(AssertionError):
    """A property does not hold; `message` is for the student, `mistake` the id of a known one."""

    def __init__(self, message: str, mistake: str | None = None) -> None:
        super().__init__(message)
        self.message, self.mistake = message, mistake


@dataclass(frozen=True)
class Mistake:
    """A known misconception: the value that it leads to and a sentence that points at the idea.

    `value` is an array, a number or a tree, or a function without arguments that gives one.
    """

    id: str
    sentence: str
    value: Any

    def outcome(self) -> Any:
        return self.value() if callable(self.value) else self.value


def fail(message: str, mistake: str | None = None) -> NoReturn:
    """Fails the item with a message for the student."""
    raise CheckFailed(message, mistake)


def require(condition: Any, message: str) -> None:
    """Fails with `message` unless `condition` is true."""
    if not bool(condition):
        fail(message)


def array(
    value: Any,
    *,
    shape: Sequence[int] | None = None,
    dtype: str | None = None,
    finite: bool = True,
    what: str = "the result",
) -> np.ndarray:
    """`value` as an array of exactly this shape and dtype, every element finite.

    Raises:
      CheckFailed: it is anything else (a list or a Python number is no array).
    """
    if type(value) is not np.ndarray:
        fail(f"{what} should be an array, but it is {described(value)}.")
    if shape is not None and value.shape != tuple(shape):
        fail(f"{what} has shape {value.shape}; expected {tuple(shape)}.")
    if dtype is not None and value.dtype != DTYPES[dtype]:
        fail(f"{what} has dtype {value.dtype.name}; expected {dtype}.")
    if finite:
        _require_finite(value, what)
    return value


def scalar(value: Any, *, what: str = "the result", finite: bool = True) -> float:
    """`value`, a Python number or an array of shape (), as a float.

    Raises:
      CheckFailed: it is anything else, or not finite.
    """
    if type(value) is np.ndarray:
        if value.shape != ():
            fail(f"{what} should be a scalar, but it has shape {value.shape}.")
        if value.dtype.kind not in _INTEGERS and value.dtype not in _FLOATS:
            fail(f"{what} should be a number, but its dtype is {value.dtype.name}.")
        number = float(value)
    elif type(value) in (int, float):
        number = float(value)
    else:
        fail(f"{what} should be a number, but it is {described(value)}.")
    if finite:
        _require_finite(np.asarray(number), what)
    return number


def integer(value: Any, *, what: str = "the result") -> int:
    """`value` as a Python int; an array, a float or a bool is none."""
    if type(value) is not int:
        fail(f"{what} should be a Python int, but it is {described(value)}.")
    return value


def tree(
    value: Any,
    like: Mapping[str, Any],
    *,
    what: str = "the result",
    leading: Sequence[int] = (),
    finite: bool = True,
) -> dict[str, Any]:
    """`value` as nested dictionaries with the keys, shapes and dtypes of `like`.

    `leading` are axes that each leaf has in front of the shape of its leaf in `like`.

    Raises:
      CheckFailed: a key is missing or foreign, or a leaf is not such an array.
    """
    if not isinstance(value, dict):
        fail(f"{what} should be a dictionary like params, but it is {described(value)}.")
    missing, foreign = set(like) - set(value), set(value) - set(like)
    if missing or foreign:
        names = ", ".join(sorted(map(str, missing or foreign))[:6])
        fail(f"{what} {'lacks' if missing else 'has the unexpected'} {names}.")
    checked: dict[str, Any] = {}
    for name, leaf in like.items():
        part = f"{what}['{name}']"
        if isinstance(leaf, Mapping):
            checked[name] = tree(value[name], leaf, what=part, leading=leading, finite=finite)
        else:
            leaf = np.asarray(leaf)
            shape, dtype = (*leading, *leaf.shape), leaf.dtype.name
            checked[name] = array(value[name], shape=shape, dtype=dtype, finite=finite, what=part)
    return checked


def record(value: Any, type_name: str, fields: Sequence[str]) -> Record:
    """`value` as the NamedTuple that the stub defines.

    Raises:
      CheckFailed: it is something else, or has other fields.
    """
    if not isinstance(value, Record):
        fail(f"The result should be a {type_name}, but it is {described(value)}.")
    if value.fields != tuple(fields):
        fail(f"The result has the fields {', '.join(value.fields)}; expected {', '.join(fields)}.")
    return value


def reported(value: Any, like: Any) -> Any:
    """`value` as a probe reports it, which a submission may have replaced by its own.

    Args:
      like: a type, of which `object` takes anything; or a dictionary or a list of such, with
        exactly these keys or this length.

    Raises:
      CheckFailed: it is anything else, which must not read as a fault of the grader's.
    """
    match like:
        case dict():
            fits = isinstance(value, dict) and value.keys() == like.keys()
            parts = [(value[key], like[key]) for key in like] if fits else []
        case list():
            fits = isinstance(value, list) and len(value) == len(like)
            parts = list(zip(value, like, strict=True)) if fits else []
        case _:
            fits, parts = like is object or type(value) is like, []
    require(fits, "What your code does could not be observed: the report on it has another form.")
    for part, like_part in parts:
        reported(part, like_part)
    return value


def close(
    got: Any,
    want: Any,
    *,
    rtol: float,
    atol: float,
    what: str = "the result",
    mistakes: Iterable[Mistake] = (),
) -> None:
    """Fails unless |got - want| <= atol + rtol * |want| everywhere (arrays, numbers or trees).

    The message names a mistake when `got` agrees with exactly one of `mistakes` and that one
    differs clearly from the right answer.
    """
    wrong, total, share = _compare(got, want, rtol, atol, what)
    if wrong == 0:
        return
    mistake = _recognise(got, want, rtol, atol, mistakes)
    if mistake:
        fail(f"{what} is not right: {mistake.sentence}", mistake.id)
    amount = "everywhere" if wrong == total else f"at {wrong:,} of {total:,} places"
    if total == 1 and not isinstance(want, Mapping):
        direction = "large" if np.all(np.real(got) > np.real(want)) else "small"
        fail(f"{what} is too {direction}, by {_share(share)} its expected size.")
    fail(f"{what} differs from what is expected {amount}, at most by {_share(share)} its size.")


def same(
    got: Any, want: Any, *, what: str = "the result", mistakes: Iterable[Mistake] = ()
) -> None:
    """Fails unless the values are equal to the last bit."""
    close(got, want, rtol=0.0, atol=0.0, what=what, mistakes=mistakes)


def agrees(got: Any, want: Any, *, rtol: float, atol: float) -> bool:
    """Whether `close` would accept."""
    try:
        return _compare(got, want, rtol, atol, "")[0] == 0
    except CheckFailed:
        return False


def described(value: Any) -> str:
    """What a value is, in a few words that show nothing of a hidden input."""
    if value is None:
        return "None (is there a return?)"
    if isinstance(value, Opaque):
        if value.type_name == "leaked tracer":
            return "a traced value that leaked out of a transformation"
        return f"an object of type {value.type_name[:60]}"
    if isinstance(value, Record):
        return f"a {value.type_name[:60]}"
    if type(value) is np.ndarray:
        return f"an array of shape {value.shape} and dtype {value.dtype.name}"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a Python {type(value).__name__}"


def _compare(got: Any, want: Any, rtol: float, atol: float, what: str) -> tuple[int, int, float]:
    """How many values are off, of how many, and the largest error over the largest value."""
    if isinstance(want, Mapping):
        if not isinstance(got, Mapping) or set(got) != set(want):
            fail(f"{what} has not the keys that are expected.")
        parts = [_compare(got[k], want[k], rtol, atol, f"{what}['{k}']") for k in want]
        wrong, total = sum(part[0] for part in parts), sum(part[1] for part in parts)
        return wrong, total, max((part[2] for part in parts), default=0.0)
    if not isinstance(got, np.ndarray | np.generic | int | float):
        fail(f"{what} should be numbers, but it is {described(got)}.")
    have, need = np.asarray(got), np.asarray(want)
    if have.shape != need.shape:
        fail(f"{what} has shape {have.shape}; expected {need.shape}.")
    kind = np.complex128 if "c" in (have.dtype.kind, need.dtype.kind) else np.float64
    have, need = have.astype(kind), need.astype(kind)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.where(have == need, 0.0, np.abs(have - need))
        error = np.where(np.isnan(have) & np.isnan(need), 0.0, error)
        near = np.isfinite(error) & (error <= atol + rtol * np.abs(need))
    off = ~(near | (error == 0.0))
    size = float(np.max(np.abs(need), initial=0.0)) or 1.0
    return int(off.sum()), off.size, float(np.max(np.where(off, error, 0.0), initial=0.0)) / size


def _recognise(
    got: Any, want: Any, rtol: float, atol: float, mistakes: Iterable[Mistake]
) -> Mistake | None:
    """The one listed mistake that explains `got`, if exactly one does."""
    matching = []
    for mistake in mistakes:
        value = mistake.outcome()
        if agrees(got, value, rtol=rtol, atol=atol) and not agrees(
            value, want, rtol=10 * rtol, atol=10 * atol
        ):
            matching.append(mistake)
    return matching[0] if len({mistake.id for mistake in matching}) == 1 else None


def _require_finite(value: np.ndarray, what: str) -> None:
    if value.dtype.kind in "fcV" or value.dtype in _FLOATS:
        bad = int((~np.isfinite(value.astype(np.complex128))).sum())
        if bad:
            fail(f"{what} holds {bad:,} values that are NaN or infinite, of {value.size:,}.")


def _share(share: float) -> str:
    if not np.isfinite(share):
        return "an infinite share of"
    if share >= 10:
        return f"{share:,.0f} times"
    return f"{100 * share:.0f}% of" if share >= 0.1 else f"{100 * share:.2g}% of"
