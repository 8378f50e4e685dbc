"""What a module can leave behind in its process, to tell whether another may follow it there."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

PATCHED = (
    *("builtins", "time", "random", "numpy", "numpy.random", "optax"),
    *("jax", "jax.lax", "jax.nn", "jax.numpy", "jax.random", "jax.tree", "jax.tree_util"),
)
"""Modules whose functions a student might replace."""


class Footprint:
    """The settings of this process and the functions of its libraries, at one moment."""

    def __init__(self) -> None:
        self._settings = _settings()
        self._modules = {name: dict(vars(sys.modules[name])) for name in PATCHED}

    def is_unchanged(self) -> bool:
        """Whether all of it still holds; what was added since (a lazy import) does not count."""
        return self._settings == _settings() and all(
            vars(sys.modules[module]).get(name) is value
            for module, attributes in self._modules.items()
            for name, value in attributes.items()
        )


def _settings() -> dict[str, Any]:
    import jax
    import numpy as np

    return {name: getattr(jax.config, name, None) for name in jax.config.values} | {
        "environment": dict(os.environ),
        "path": list(sys.path),
        "floating-point errors": np.geterr(),
        "threads": threading.active_count(),
    }
