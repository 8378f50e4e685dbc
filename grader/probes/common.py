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


def made(module: Any, value: Any) -> Any:
    """`value`, to be kept in the worker."""
    return value


def initial(key: jax.Array) -> Any:
    """The lesson's parameters before training."""
    from mnist_mlp import init_params

    return init_params(key)


def initial_state(module: Any, optimizer: optax.GradientTransformation, params: Any) -> Any:
    """The optimizer's state before training."""
    return optimizer.init(params)


def trained(x: jax.Array, y: jax.Array) -> Any:
    """The lesson's parameters after two epochs on these digits."""
    from mnist_mlp import Data, train

    data = Data(x, y, x[:10], y[:10])
    return train(jax.random.PRNGKey(0), data, optax.adam(1e-3), n_epochs=2)[0]


def reference_step(module: Any, optimizer: optax.GradientTransformation) -> Any:
    """The lesson's training step, jitted."""
    from mnist_mlp import loss_fn

    @jax.jit
    def step(params: Any, opt_state: Any, x: jax.Array, y: jax.Array) -> Any:
        loss, gradients = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(gradients, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def repeated(
    module: Any, step: Any, params: Any, opt_state: Any, x: jax.Array, y: jax.Array, n_steps: int
) -> float:
    """The loss of the last of `n_steps` steps, ready."""
    loss = float("nan")
    for _ in range(n_steps):
        params, opt_state, loss = step(params, opt_state, x, y)
    return float(loss)
