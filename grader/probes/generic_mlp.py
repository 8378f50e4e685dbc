"""What tests of generic_mlp hand to the student's functions."""

from types import ModuleType
from typing import Any


def widths(first: int, end: int, step: int) -> range:
    """Layer widths as a range, which is a sequence but neither a tuple nor a list."""
    return range(first, end, step)


def tied(params: dict[str, Any], first: str, second: str) -> dict[str, Any]:
    """`params` in which the layer `first` is the very object that the layer `second` is."""
    return {**params, first: params[second]}


def depths_while_growing(module: ModuleType, params: dict[str, Any]) -> list[Any]:
    """`num_layers` of one dictionary, asked each time that it has got one more of the layers."""
    growing: dict[str, Any] = {}
    found = []
    for name, layer in params.items():
        growing[name] = layer
        found.append(module.num_layers(growing))
    return found
