"""Values and observations that several exercises use."""

from __future__ import annotations

from typing import Any

import jax
import optax


def data(x_train: jax.Array, y_train: jax.Array, x_test: jax.Array, y_test: jax.Array) -> Any:
    """The lesson's `Data` of these arrays."""
    from mnist_mlp import Data

    return Data(x_train, y_train, x_test, y_test)


def optimizer(name: str, *args: Any) -> optax.GradientTransformation:
    """The optimizer `optax.NAME(*args)`."""
    return getattr(optax, name)(*args)


def chain(*parts: optax.GradientTransformation) -> optax.GradientTransformation:
    """`optax.chain` of the given transformations."""
    return optax.chain(*parts)
