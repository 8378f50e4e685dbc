"""Known misconceptions of the exercise generic_mlp, and what they lead to, in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from grader.checks import Mistake
from tests import oracles

Params = Mapping[str, Mapping[str, np.ndarray]]
Activation = Callable[[np.ndarray], np.ndarray]


def of_depth(depth: int) -> tuple[Mistake, ...]:
    """Misconceptions of `num_layers` for a network of `depth` layers."""
    names = sorted(f"layer{number}" for number in range(1, depth + 1))
    return (
        Mistake(
            "leaves-not-layers",
            "it counts leaves, and every layer owns more than one of those.",
            2 * depth,
        ),
        Mistake(
            "hidden-layers-only",
            "it leaves out a layer. The last one counts too, although no ReLU follows it.",
            depth - 1,
        ),
        Mistake(
            "widths-not-layers",
            "it counts one too many: a layer lies between two widths.",
            depth + 1,
        ),
        Mistake(
            "largest-name",
            "it reads the number off the name that sorts last, and as a string 'layer9' sorts"
            " behind 'layer12'.",
            int(names[-1].removeprefix("layer")),
        ),
    )


def of_forward(params: Params, x: np.ndarray) -> Iterator[Mistake]:
    """Misconceptions of `mlp_forward` for these arguments; only those whose shapes fit.

    A generator, so that a right answer does not wait for them.
    """
    numeric = [f"layer{number}" for number in range(1, len(params) + 1)]
    right = _run(params, numeric, x)
    assert right is not None
    found = (
        (
            "relu-after-last",
            "a ReLU follows the last layer too. Logits are free to be negative.",
            np.maximum(right, 0),
        ),
        (
            "no-relu",
            "no ReLU stands between the layers, so the whole network is one linear map.",
            _run(params, numeric, x, activation=lambda z: z),
        ),
        (
            "relu-on-input",
            "the input itself goes through a ReLU. Only what lies between two layers does.",
            _run(params, numeric, np.maximum(x, 0)),
        ),
        (
            "leaky-relu",
            "negative values leak through between the layers. What does a ReLU make of them?",
            _run(params, numeric, x, activation=lambda z: np.where(z > 0, z, 0.01 * z)),
        ),
        (
            "other-activation",
            "between the layers stands another activation than the lesson's ReLU.",
            _run(params, numeric, x, activation=np.tanh),
        ),
        (
            "other-activation",
            "between the layers stands another activation than the lesson's ReLU.",
            _run(params, numeric, x, activation=_sigmoid),
        ),
        (
            "capped-relu",
            "large values are cut off between the layers. A ReLU has no upper end.",
            _run(params, numeric, x, activation=lambda z: np.clip(z, 0, 6)),
        ),
        (
            "relu-before-bias",
            "the bias is added behind the ReLU. What should the ReLU be applied to?",
            _run(params, numeric, x, bias="after"),
        ),
        (
            "no-bias",
            "the biases do not take part.",
            _run(params, numeric, x, bias="none"),
        ),
        (
            "order-of-names",
            "the layers run in the order of their names as strings, in which 'layer10' comes before"
            " 'layer2'. jax.tree and jit sort dictionaries in the same way.",
            _run(params, sorted(numeric), x),
        ),
        (
            "order-of-insertion",
            "the layers run in the order in which the dictionary happens to hold them. The numbers"
            " in the names say which comes first.",
            _run(params, list(params), x),
        ),
        (
            "backwards",
            "the layers run from the last to the first.",
            _run(params, numeric[::-1], x),
        ),
        (
            "last-layer-skipped",
            "the last layer does not take part. Does the loop end one too early?",
            _run(params, numeric[:-1], x),
        ),
        (
            "first-layer-skipped",
            "the first layer does not take part. Does the loop begin one too late?",
            _run(params, numeric[1:], x),
        ),
        (
            "three-layers",
            "only the first three layers take part. The depth is for params to tell.",
            _run(params, numeric[:3], x),
        ),
        (
            "residual",
            "a layer's input is added to its output where the widths agree.",
            _run(params, numeric, x, residual=True),
        ),
        (
            "softmax",
            "the last layer's values went through a softmax. Logits are what comes before it.",
            np.exp(oracles.log_softmax(right)),
        ),
        (
            "log-softmax",
            "the last layer's values went through a log-softmax. Logits are what comes before it.",
            oracles.log_softmax(right),
        ),
    )
    for name, sentence, value in found:
        if value is not None and value.shape == right.shape:
            yield Mistake(name, sentence, value)


def of_variance(fan_in: int, fan_out: int) -> tuple[Mistake, ...]:
    """Misconceptions of `init_mlp`: the variance that the weights of one layer then have."""
    return (
        Mistake(
            "variance-not-std",
            "2 / fan_in is meant as the variance, but the weights have it as standard deviation.",
            (2 / fan_in) ** 2,
        ),
        Mistake("not-scaled", "the weights are drawn but never scaled.", 1.0),
        Mistake(
            "half",
            "it is half of what it should be. A ReLU drops half of the signal, and the 2 makes up"
            " for that.",
            1 / fan_in,
        ),
        Mistake(
            "glorot",
            "it depends on both widths of the layer (Glorot), where He's depends on one.",
            2 / (fan_in + fan_out),
        ),
        Mistake(
            "fan-out",
            "it follows the layer's output width. How many terms does one output sum?",
            2 / fan_out,
        ),
        Mistake(
            "uniform-bound",
            "it is a third of what it should be. A uniform draw from -a to a has less variance than"
            " a * a.",
            2 / (3 * fan_in),
        ),
        Mistake(
            "narrow-uniform",
            "it is a sixth of what it should be, that of a uniform draw between -1 / sqrt(fan_in)"
            " and 1 / sqrt(fan_in).",
            1 / (3 * fan_in),
        ),
        Mistake(
            "truncated-not-corrected",
            "it is what remains of 2 / fan_in after cutting off the tails. A truncated draw needs"
            " to be widened first.",
            0.77374 * 2 / fan_in,
        ),
        Mistake(
            "small-constant",
            "it does not depend on the width at all.",
            1e-4,
        ),
    )


def _run(
    params: Params,
    names: Sequence[str],
    x: np.ndarray,
    activation: Activation = lambda z: np.maximum(z, 0),
    bias: str = "before",
    residual: bool = False,
) -> np.ndarray | None:
    """The network with layers in the order `names`; None where their widths do not fit."""
    h = np.asarray(x, np.float64)
    for position, name in enumerate(names):
        w, b = (params[name][part].astype(np.float64) for part in ("w", "b"))
        if h.shape[-1] != w.shape[0]:
            return None
        last = position == len(names) - 1
        z = h @ w + (b if bias == "before" or (bias == "after" and last) else 0)
        out = z if last else activation(z)
        if bias == "after" and not last:
            out = out + b
        h = out + h if residual and out.shape == h.shape else out
    return h


def _sigmoid(z: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(z / 2))
