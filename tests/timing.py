"""Deciding about measured times on a machine that has other things to do.

A step that sleeps cannot be over sooner than it was told, so a time below that is wrong for good. A
time above it may be the machine's fault: then the benchmark runs again, and only a time that stays
too long is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from grader.checks import CheckFailed, Mistake, record, scalar
from grader.student import Student

FIELDS = ("eager_seconds", "jit_seconds", "first_call_seconds", "compile_seconds", "speedup")
ATTEMPTS = 5
PATIENCE = 30.0
"""Seconds of measuring, after which nothing is measured again."""
EARLY = 0.95
"""The share of a physical minimum that is accepted, for clocks that are set while they run."""


@dataclass(frozen=True)
class Timing:
    """What the student's benchmark said of `n_steps` steps, and what is known besides.

    Attributes:
      costs: what the steps were told to cost, in seconds.
      counts: what the step says became of it; see the probe.
      wall: the trusted side's clock for the whole benchmark, seconds.
      changed: positions of the caller's arguments that were changed.
    """

    eager_seconds: float
    jit_seconds: float
    first_call_seconds: float
    compile_seconds: float
    speedup: float
    n_steps: int
    costs: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, Any] = field(default_factory=dict)
    wall: float = float("inf")
    changed: tuple[str, ...] = ()

    def count(self, name: str) -> int:
        """How often the step says that something happened to it."""
        value = self.counts.get(name, 0)
        return value if type(value) is int else 0

    def seconds(self, name: str) -> float:
        """A time that the step says to have seen."""
        value = self.counts.get(name, 0.0)
        return value if type(value) is float else 0.0


class TooLong(CheckFailed):
    """A time, or another beside it, is above what it should be: perhaps only now."""


def timing(value: Any, n_steps: int, **known: Any) -> Timing:
    """The `Benchmark` that came back, as numbers.

    Raises:
      CheckFailed: it is something else, or holds something other than finite numbers.
    """
    result = record(value, "Benchmark", FIELDS)
    numbers = (scalar(getattr(result, name), what=name) for name in FIELDS)
    return Timing(*numbers, n_steps, **known)


_MEASURED: WeakKeyDictionary[Student, dict[str, list[Timing]]] = WeakKeyDictionary()


def settle(
    student: Student,
    name: str,
    measure: Callable[[], Timing],
    check: Callable[[Timing], None],
) -> Timing:
    """Checks a measurement, and others while something took too long.

    Args:
      name: items that use the same name share measurements.

    Returns:
      The measurement that passed.

    Raises:
      CheckFailed: the check failed for good, or every time.
    """
    measured = _MEASURED.setdefault(student, {}).setdefault(name, [])
    attempt = 0
    while True:
        if attempt == len(measured):
            measured.append(measure())
        try:
            check(measured[attempt])
        except TooLong:
            attempt += 1
            patient = sum(timing.wall for timing in measured) < PATIENCE
            if attempt == len(measured) and not (patient and attempt < ATTEMPTS):
                raise
        else:
            return measured[attempt]


def takes(
    seconds: float,
    at_least: float,
    at_most: float,
    *,
    what: str,
    means: str,
    about: float | None = None,
    mistakes: Iterable[Mistake] = (),
) -> None:
    """Fails unless a time lies between its bounds.

    Args:
      about: what the message says of a time that is too long, if not the lower bound.
      what: the name of the time.
      means: what it should be, as the end of a sentence.
      mistakes: known misconceptions, by the seconds that they lead to.

    Raises:
      CheckFailed: it is too short.
      TooLong: it is too long.
    """
    if EARLY * at_least <= seconds <= at_most:
        return
    mistake = _explanation(seconds, at_least, at_most, mistakes)
    thought = f" Most likely {mistake.sentence}" if mistake else ""
    if seconds < at_least:
        took = f"at least {at_least:.2f}"
    else:
        took = f"about {about or at_least:.2f}"
    message = f"{what} is {seconds:.3g}, but {means} took {took} s.{thought}"
    kind = CheckFailed if seconds < at_least else TooLong
    raise kind(message, mistake.id if mistake else None)


def follows(
    seconds: float,
    want: float,
    within: float,
    *,
    what: str,
    means: str,
    mistakes: Iterable[Mistake] = (),
) -> None:
    """Fails unless a time agrees with what follows from other measured times.

    One that is to the last digits what a mistake makes of those times is that mistake, be it near.

    Raises:
      CheckFailed: it is what a mistake makes.
      TooLong: it does not agree; measured again it may.
    """
    exact = 1e-6 * max(abs(want), within)
    made = [m for m in mistakes if abs(seconds - m.outcome()) <= exact]
    if abs(seconds - want) > 1e-3 and len({mistake.id for mistake in made}) == 1:
        mistake = made[0]
        raise CheckFailed(
            f"{what} is {seconds:.3g}, but {means} is {want:.3g}. Most likely {mistake.sentence}",
            mistake.id,
        )
    if abs(seconds - want) > within:
        raise TooLong(f"{what} is {seconds:.3g}, but {means} is {want:.3g}.")


def _explanation(
    seconds: float, at_least: float, at_most: float, mistakes: Iterable[Mistake]
) -> Mistake | None:
    """The one mistake that leads to about these seconds, if exactly one does."""
    matching = [
        mistake
        for mistake in mistakes
        if not at_least <= mistake.outcome() <= at_most
        and mistake.outcome() - 0.03 <= seconds <= 1.1 * mistake.outcome() + 0.08
    ]
    return matching[0] if len({mistake.id for mistake in matching}) == 1 else None
