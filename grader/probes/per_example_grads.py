"""Observations of per_example_grads: how much program there is, not what it computes."""

from __future__ import annotations

import sys
from types import FrameType, ModuleType
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr

_NUMPY = np.__path__[0]


def operations(module: ModuleType, *args: Any) -> int:
    """How many operations the traced `per_example_grads(*args)` carries out.

    A `scan` (so a `lax.map` too) counts its body once for every step.
    """
    return _count(jax.make_jaxpr(module.per_example_grads)(*args).jaxpr)


def while_loops(module: ModuleType, *args: Any) -> int:
    """How many `while` loops, whose steps no trace can tell, `per_example_grads(*args)` holds."""
    return _count(jax.make_jaxpr(module.per_example_grads)(*args).jaxpr, "while")


def python_calls(module: ModuleType, *args: Any) -> int:
    """The function calls that the Python interpreter makes in an untraced `per_example_grads`.

    What is compiled or cached at first has been so before the counted calls; the smaller of two
    counts is returned. What NumPy calls is not counted: JAX has it print arrays, value by value,
    where a solution holds an identity matrix.
    """
    jax.block_until_ready(module.per_example_grads(*args))
    return min(_calls(module, *args) for _ in range(2))


def _count(jaxpr: Jaxpr, only: str | None = None) -> int:
    total = 0
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        steps = int(equation.params["length"]) if name == "scan" else 1
        total += only in (None, name)
        for inner in _inner(list(equation.params.values())):
            total += steps * _count(inner, only)
    return total


def _inner(parameter: Any) -> list[Jaxpr]:
    """The programs inside an operation's parameter."""
    if isinstance(parameter, ClosedJaxpr):
        return [parameter.jaxpr]
    if isinstance(parameter, Jaxpr):
        return [parameter]
    if isinstance(parameter, list | tuple):
        return [jaxpr for item in parameter for jaxpr in _inner(item)]
    return []


def _calls(module: ModuleType, *args: Any) -> int:
    count = 0

    def tally(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        caller = frame.f_back if event == "call" else frame
        if event in ("call", "c_call") and caller is not None:
            count += not caller.f_code.co_filename.startswith(_NUMPY)

    sys.setprofile(tally)
    try:
        module.per_example_grads(*args)
    finally:
        sys.setprofile(None)
    return count
