"""What the tests of dropout have a worker do."""

from __future__ import annotations

import inspect
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np


def over_keys(module: ModuleType, keys: jax.Array, x: jax.Array, rate: float) -> np.ndarray:
    """`dropout` of one x with each raw key in turn, not under vmap: `(len(keys), *x.shape)`."""
    rows = np.asarray(keys)  # in NumPy, where taking rows and stacking results compiles nothing
    return np.stack([np.asarray(module.dropout(jnp.asarray(row), x, rate)) for row in rows])


def defaults(module: ModuleType) -> dict[str, object]:
    """The default arguments of `compare_dropout`, as far as its signature shows them."""
    parameters = inspect.signature(module.compare_dropout).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}
