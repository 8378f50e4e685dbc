"""Known mistakes are told from each other, by what NumPy makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests import oracles
from tests.mistakes.dropout import of_unread_masks

RATE = 0.3


@pytest.mark.parametrize(
    ("layers", "before_bias", "known"),
    [
        ((1,), False, "one-layer-only"),
        ((2,), False, "one-layer-only"),
        ((1, 2, 3), False, None),
        ((1, 2), True, None),
        ((), False, None),
    ],
)
def test_which_layers_drop_is_told_from_logits_that_show_no_masks(layers, before_bias, known):
    rng = np.random.default_rng(0)
    params = oracles.mask_reading_params(6, 10, 10)
    h = np.ones((256, 6))
    for number, layer in enumerate(params.values(), start=1):
        h = h @ layer["w"] + (0 if before_bias else layer["b"])
        for _ in range(layers.count(number)):
            h = np.where(rng.uniform(size=h.shape) < RATE, 0, h / (1 - RATE))
        h = np.maximum(h + (layer["b"] if before_bias else 0), 0)
    assert oracles.read_masks(h, 10) is None or not layers
    assert of_unread_masks(h, RATE) == known
