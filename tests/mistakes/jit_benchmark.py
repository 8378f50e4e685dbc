"""Known misconceptions of the exercise jit_benchmark, and what they lead to.

For a training step: parameters and losses, in NumPy. For a benchmark: seconds, where the true costs
are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grader.checks import Mistake
from tests import oracles


def of_update(params: Any, x: np.ndarray, y: np.ndarray, rate: float) -> tuple[Mistake, ...]:
    """Misconceptions of one step of gradient descent: the change of the parameters."""
    gradient = oracles.gradient(params, x, y)

    def times(factor: float) -> Any:
        return oracles.tree_map(lambda g: factor * g, gradient)

    adam = oracles.Adam(1e-3)
    return (
        Mistake(
            "params-not-updated",
            "they come back as they were. What optax.apply_updates makes must be returned.",
            times(0.0),
        ),
        Mistake(
            "uphill",
            "they move uphill. Optax's updates are ready to be added as they are.",
            times(rate),
        ),
        Mistake(
            "raw-gradient",
            "the gradient itself was applied. The optimizer decides what becomes of it.",
            times(-1.0),
        ),
        Mistake(
            "raw-gradient",
            "the gradient itself was added. The optimizer decides what becomes of it.",
            times(1.0),
        ),
        Mistake(
            "summed-loss",
            "the step is as many times too long as the batch is large. Is the loss a mean?",
            times(-rate * len(y)),
        ),
        Mistake(
            "updated-twice",
            "the update was applied twice.",
            times(-2 * rate),
        ),
        Mistake(
            "own-optimizer",
            "they move as Adam would move them, whatever optimizer was given.",
            lambda: adam.update(gradient),
        ),
    )


def of_loss(params: Any, moved: Any, x: np.ndarray, y: np.ndarray) -> tuple[Mistake, ...]:
    """Misconceptions of the loss that a step from `params` to `moved` returns."""
    accuracy = oracles.accuracy(params, x, y)
    return (
        Mistake(
            "loss-after-update",
            "it is the loss after the update. jax.value_and_grad gives the one that belongs to"
            " the gradient.",
            oracles.loss(moved, x, y),
        ),
        Mistake(
            "summed-loss",
            "it is the sum over the batch. mnist_mlp.loss_fn gives the mean.",
            oracles.loss(params, x, y) * len(y),
        ),
        Mistake("accuracy-for-loss", "it is the accuracy; the step returns the loss.", accuracy),
    )


def of_adam(
    params: Any, x: np.ndarray, y: np.ndarray, fresh: Callable[[], oracles.Adam]
) -> tuple[Mistake, ...]:
    """Misconceptions of several steps of Adam, a batch a step: the change of the parameters.

    `fresh` makes the optimizer anew.
    """

    def forgetting() -> Any:
        at = oracles.float64(params)
        for images, labels in zip(x, y, strict=True):
            at = oracles.apply_updates(at, fresh().update(oracles.gradient(at, images, labels)))
        return oracles.tree_map(lambda a, p: a - p, at, oracles.float64(params))

    return (
        Mistake(
            "state-forgotten",
            "every step begins with a fresh optimizer state. The state that update returns must"
            " go on to the next step.",
            forgetting,
        ),
        Mistake(
            "params-not-updated",
            "they come back as they were. What optax.apply_updates makes must be returned.",
            lambda: oracles.tree_map(np.zeros_like, oracles.float64(params)),
        ),
    )


def of_eager(costs: Sequence[float], warm_up: float | None = None) -> tuple[Mistake, ...]:
    """Misconceptions of `eager_seconds`: steps cost `costs`, the first call `warm_up`."""
    general = _of_total("eager_seconds", len(costs), sum(costs))
    if warm_up is None:
        return general
    sentence = (
        "it holds the first call, in which JAX compiles every operation once. Make a call before"
        " the clock starts."
    )
    # One call more than the steps, or the first call in the place of a step.
    totals = (sum(costs) + warm_up, sum(costs[:-1]) + warm_up)
    return (*general, *(Mistake("warm-up-counted", sentence, total) for total in totals))


def of_jit(n_steps: int, cost: float, compiling: float | None = None) -> tuple[Mistake, ...]:
    """Misconceptions of `jit_seconds`: as for `of_eager`, `compiling` being the compilation."""
    general = _of_total("jit_seconds", n_steps, cost)
    if compiling is None:
        return general
    sentence = "it holds the compilation. That happens in the first call: keep it out."
    # The first call in the place of a step, or one call more than the steps.
    totals = (cost + compiling, cost + cost / n_steps + compiling)
    return (*general, *(Mistake("compilation-counted", sentence, total) for total in totals))


def of_first_call(step: float, compiling: float, n_steps: int) -> tuple[Mistake, ...]:
    """Misconceptions of `first_call_seconds`."""
    return (
        Mistake(
            "first-call-not-first",
            "it is as short as any other step, so it was not the first jitted call: an earlier"
            " one had compiled already.",
            step,
        ),
        Mistake(
            "first-call-without-execution",
            "it holds the compilation but not the execution of the step.",
            compiling,
        ),
        Mistake(
            "first-call-with-steps",
            "it holds more steps than the first.",
            compiling + step * n_steps,
        ),
        Mistake(
            "first-call-with-steps",
            "it holds more steps than the first.",
            compiling + step * (n_steps + 1),
        ),
        *_other_units(step + compiling),
    )


def of_compile(first: float, jit: float, eager: float, n_steps: int) -> tuple[Mistake, ...]:
    """Misconceptions of `compile_seconds`, from the other times as they were reported."""
    return (
        Mistake(
            "step-not-subtracted",
            "it is all of the first call. That call has also made a step.",
            first,
        ),
        Mistake(
            "all-steps-subtracted",
            "all the jitted steps were taken off the first call, which has made one.",
            max(0.0, first - jit),
        ),
        Mistake(
            "eager-step-subtracted",
            "a step without jit was taken off. The first call has made a jitted one.",
            max(0.0, first - eager / n_steps),
        ),
        Mistake("negative-compile-time", "it may not be below 0.", first - jit / n_steps),
        Mistake(
            "absolute-compile-time",
            "the difference is below 0 here, and its sign was dropped.",
            abs(first - jit / n_steps),
        ),
        *_other_units(first - jit / n_steps),
    )


def of_speedup(eager: float, jit: float, first: float, n_steps: int) -> tuple[Mistake, ...]:
    """Misconceptions of `speedup`, from the times as they were reported."""
    return (
        Mistake("speedup-inverted", "it is upside down.", jit / eager),
        Mistake("speedup-difference", "it is a difference; a ratio is asked for.", eager - jit),
        Mistake(
            "speedup-with-compilation",
            "the compilation was counted among the jitted steps.",
            eager / (jit + first),
        ),
        Mistake(
            "speedup-against-first-call",
            "it is the ratio to the first call, which compiles.",
            eager / n_steps / first,
        ),
        Mistake("speedup-percent", "it is in percent.", 100 * eager / jit),
        *(
            Mistake("speedup-rounded", "it was rounded.", round(eager / jit, digits))
            for digits in range(6)
        ),
    )


def _of_total(name: str, n_steps: int, cost: float) -> tuple[Mistake, ...]:
    return (
        Mistake(
            "average-for-total",
            f"it is the time of one step. {name} is that of all of them together.",
            cost / n_steps,
        ),
        Mistake(
            "not-elapsed",
            "almost no time has passed by it, and the steps were asleep. time.perf_counter shows"
            " elapsed time, process_time that of the processor alone.",
            0.0,
        ),
        *_other_units(cost),
    )


def _other_units(seconds: float) -> tuple[Mistake, ...]:
    units = {"milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
    return tuple(
        Mistake(unit, "it is not in seconds.", seconds * factor) for unit, factor in units.items()
    )
