"""What a graded test can hand to the student's function besides NumPy arrays and plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.wire import KeySpec, Made


@dataclass(frozen=True)
class Transform:
    """A transformation of JAX under which the worker calls a function."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)


def key(seed: int | np.random.Generator, typed: bool = False) -> KeySpec:
    """A key made in the worker: `PRNGKey(seed)`, or `jax.random.key(seed)` when `typed`.

    A generator gives a fresh seed.
    """
    return KeySpec(_seed(seed), typed)


def keys(seed: int | np.random.Generator, count: int, typed: bool = False) -> KeySpec:
    """`count` different keys on a leading axis, for `vmap`."""
    return KeySpec(_seed(seed), typed, count)


def related_keys(rng: np.random.Generator) -> list[np.ndarray]:
    """Three raw keys `(2,)`, uint32: the second and the third share one word with the first."""
    first, second, other = rng.choice(2**31, 3, replace=False)
    pairs = (first, second), (first, other), (other, second)
    return [np.array(words, np.uint32) for words in pairs]


def make(name: str, *args: Any) -> Made:
    """A value made in the worker by the probe `name` (`module.function` in `grader/probes`)."""
    return Made(name, args)


def jit(static: Sequence[int] = ()) -> Transform:
    """`jax.jit`, the arguments at the positions `static` being static."""
    return Transform("jit", {"static": tuple(static)})


def vmap(in_axes: Any = 0) -> Transform:
    """`jax.vmap` over `in_axes`."""
    return Transform("vmap", {"in_axes": in_axes})


def grad(argnums: int = 0) -> Transform:
    """`jax.grad` of a scalar function in one of its arguments."""
    return Transform("grad", {"argnums": argnums})


def vjp(cotangent: Any, argnums: int = 0) -> Transform:
    """The pullback of `cotangent` (of the shape of the result) to one argument, by `jax.vjp`."""
    return Transform("vjp", {"cotangent": cotangent, "argnums": argnums})


def _seed(seed: int | np.random.Generator) -> int:
    return int(seed.integers(2**31)) if isinstance(seed, np.random.Generator) else int(seed)
