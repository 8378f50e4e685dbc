# right: type hints, a wrapping decorator and a NamedTuple inside

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import NamedTuple

import jax
import jax.numpy as jnp

Params = dict[str, dict[str, jax.Array]]


class Layer(NamedTuple):
    w: jax.Array
    b: jax.Array


def checked(function: Callable) -> Callable:
    @wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def layers(params: Params) -> Iterator[Layer]:
    number = 1
    while (layer := params.get(f"layer{number}")) is not None:
        yield Layer(layer["w"], layer["b"])
        number += 1


@checked
def num_layers(params: Params) -> int:
    return jax.tree.structure(params).num_leaves // 2


@checked
def mlp_forward(params: Params, x: jax.Array) -> jax.Array:
    h: jax.Array | None = None
    for layer in layers(params):
        h = (x if h is None else jax.nn.relu(h)) @ layer.w + layer.b
    assert h is not None
    return h


@checked
def init_mlp(key: jax.Array, sizes: Sequence[int]) -> Params:
    def draw(subkey: jax.Array, fan_in: int, fan_out: int) -> dict[str, jax.Array]:
        scale = jnp.sqrt(jnp.float32(2) / jnp.float32(fan_in))
        return {"w": jax.random.normal(subkey, (fan_in, fan_out)) * scale, "b": jnp.zeros(fan_out)}

    subkeys = jax.random.split(key, len(sizes) - 1)
    return {f"layer{i}": draw(subkeys[i - 1], sizes[i - 1], sizes[i]) for i in range(1, len(sizes))}
