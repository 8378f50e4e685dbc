"""What the right answers are, in NumPy float64: independent of JAX and of the solutions.

`params` are nested dictionaries `{'layer1': {'w': (in, out), 'b': (out,)}, ...}` of any depth;
layers run in numeric order. `x` is `(features,)` or `(batch, features)`, `y` integer labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Tree = Mapping[str, Any]


def layers(params: Tree) -> list[str]:
    """The layers' names in numeric order."""
    return sorted(params, key=lambda name: int(name.removeprefix("layer")))


def tree_map(function: Any, first: Any, *rest: Any) -> Any:
    """`function` of the leaves of trees of one structure."""
    if isinstance(first, Mapping):
        return {k: tree_map(function, first[k], *(other[k] for other in rest)) for k in first}
    return function(first, *rest)


def tree_leaves(tree: Any) -> list[np.ndarray]:
    """The leaves of a tree."""
    if isinstance(tree, Mapping):
        return [leaf for value in tree.values() for leaf in tree_leaves(value)]
    return [np.asarray(tree)]


def float64(tree: Any) -> Any:
    """A tree of float64 copies."""
    return tree_map(lambda leaf: np.asarray(leaf, np.float64), tree)


def random_params(
    rng: np.random.Generator, sizes: Sequence[int], scale: float = 1.0, shuffle: bool = True
) -> dict[str, dict[str, np.ndarray]]:
    """float32 params of an MLP of widths `sizes`, biases not zero, keys in shuffled order."""
    made = {}
    for number, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:], strict=False), start=1):
        layer = {
            "w": (scale * rng.normal(size=(fan_in, fan_out)) * np.sqrt(2 / fan_in)),
            "b": 0.3 * rng.normal(size=fan_out),
        }
        names = list(rng.permutation(["w", "b"])) if shuffle else ["w", "b"]
        made[f"layer{number}"] = {str(n): layer[str(n)].astype(np.float32) for n in names}
    order = list(rng.permutation(list(made))) if shuffle else list(made)
    return {str(name): made[str(name)] for name in order}


def forward(params: Tree, x: np.ndarray, masks: Sequence[np.ndarray] | None = None) -> np.ndarray:
    """Logits of the MLP; `masks` multiply the hidden activations, first layer first."""
    return _activations(float64(params), np.asarray(x, np.float64), masks)[-1]


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Over the last axis, shifted by the maximum."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def cross_entropy(logits: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Softmax cross-entropy of each example, not averaged."""
    picked = np.take_along_axis(log_softmax(logits), np.asarray(y)[..., None], axis=-1)
    return -picked[..., 0]


def loss(
    params: Tree, x: np.ndarray, y: np.ndarray, masks: Sequence[np.ndarray] | None = None
) -> float:
    """Mean softmax cross-entropy of the MLP."""
    return float(cross_entropy(forward(params, x, masks), y).mean())


def accuracy(params: Tree, x: np.ndarray, y: np.ndarray) -> float:
    """The share of examples whose largest logit is their label's."""
    return float((forward(params, x).argmax(axis=-1) == np.asarray(y)).mean())


def per_example_gradients(
    params: Tree, x: np.ndarray, y: np.ndarray, masks: Sequence[np.ndarray] | None = None
) -> dict[str, Any]:
    """Gradients of each example's own loss, by back-propagation; leaves `(batch, ...)`."""
    params, x = float64(params), np.atleast_2d(np.asarray(x, np.float64))
    y = np.atleast_1d(np.asarray(y))
    activations = _activations(params, x, masks)
    logits = activations[-1]
    delta = np.exp(log_softmax(logits))
    delta[np.arange(len(y)), y] -= 1.0
    gradients = {}
    names = layers(params)
    for number in reversed(range(len(names))):
        name, inputs = names[number], activations[number]
        gradients[name] = {"w": inputs[:, :, None] * delta[:, None, :], "b": delta}
        if number:
            delta = delta @ params[name]["w"].T
            if masks is not None:
                delta = delta * masks[number - 1]
            pre = _pre_activation(params[names[number - 1]], activations[number - 1])
            delta = delta * (pre > 0)
    return {name: gradients[name] for name in params}


def gradient(
    params: Tree, x: np.ndarray, y: np.ndarray, masks: Sequence[np.ndarray] | None = None
) -> dict[str, Any]:
    """The gradient of `loss` in params."""
    each = per_example_gradients(params, x, y, masks)
    return tree_map(lambda leaf: leaf.mean(axis=0), each)


def global_norm(tree: Any) -> float:
    """The L2 norm over all leaves together."""
    leaves = tree_leaves(tree)
    return float(np.sqrt(sum(float((leaf.astype(np.float64) ** 2).sum()) for leaf in leaves)))


def clip_by_global_norm(tree: Any, bound: float) -> Any:
    """The tree scaled down to a global norm of `bound` where it is longer."""
    norm = global_norm(tree)
    return tree_map(lambda leaf: leaf * (bound / norm if norm > bound else 1.0), tree)


class Adam:
    """Adam (Kingma and Ba, 2015, algorithm 1), stateful: each call to `update` is one step."""

    def __init__(
        self, learning_rate: float, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
    ) -> None:
        self._rate, self._b1, self._b2, self._eps = learning_rate, b1, b2, eps
        self._count, self._mu, self._nu = 0, None, None

    def update(self, gradients: Any) -> Any:
        """The change to be added to the parameters."""
        gradients = float64(gradients)
        zeros = tree_map(np.zeros_like, gradients)
        mu, nu = (
            (zeros if self._mu is None else self._mu),
            (zeros if self._nu is None else self._nu),
        )
        self._count += 1
        self._mu = tree_map(lambda m, g: self._b1 * m + (1 - self._b1) * g, mu, gradients)
        self._nu = tree_map(lambda v, g: self._b2 * v + (1 - self._b2) * g * g, nu, gradients)
        first, second = 1 - self._b1**self._count, 1 - self._b2**self._count
        return tree_map(
            lambda m, v: -self._rate * (m / first) / (np.sqrt(v / second) + self._eps),
            self._mu,
            self._nu,
        )


def apply_updates(params: Any, updates: Any) -> Any:
    """params + updates, leaf by leaf."""
    return tree_map(lambda p, u: np.asarray(p, np.float64) + u, params, updates)


def _pre_activation(layer: Tree, inputs: np.ndarray) -> np.ndarray:
    return inputs @ layer["w"] + layer["b"]


def _activations(
    params: Tree, x: np.ndarray, masks: Sequence[np.ndarray] | None
) -> list[np.ndarray]:
    """The input, each hidden activation (masked), and the logits."""
    found = [x]
    names = layers(params)
    for number, name in enumerate(names):
        value = _pre_activation(params[name], found[-1])
        if number < len(names) - 1:
            value = np.maximum(value, 0.0)
            if masks is not None:
                value = value * masks[number]
        found.append(value)
    return found


# For per_example_grads


def gradients_from_errors(params: Tree, x: np.ndarray, errors: np.ndarray) -> dict[str, Any]:
    """Each example's gradient in params, from that in its logits; leaves `(batch, ...)`."""
    activations, back = _back_propagated(params, x, errors)
    return {
        name: {"w": values[:, :, None] * error[:, None, :], "b": error}
        for name, values, error in zip(layers(params), activations, back, strict=True)
    }


def per_example_norms(params: Tree, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The global L2 norm of each example's gradient, `(batch,)`, built without the gradients."""
    errors = np.exp(log_softmax(forward(params, x)))
    errors[np.arange(len(y)), y] -= 1.0
    activations, back = _back_propagated(params, x, errors)
    # A weight's gradient is an outer product, whose norm is the product of the two; 1: the bias.
    squares = [
        (np.sum(values**2, axis=1) + 1) * np.sum(error**2, axis=1)
        for values, error in zip(activations, back, strict=True)
    ]
    return np.sqrt(np.sum(squares, axis=0))


def draw_examples(
    rng: np.random.Generator,
    sizes: Sequence[int] = (7, 6, 5, 4),
    batch: int = 8,
    *,
    margin: float = 1e-3,
    accept: Callable[..., bool] = lambda params, x, y: True,
) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """A network, examples and labels whose gradients float32 gets right: `params, x, y`.

    No hidden value before its ReLU lies within `margin` of 0, where rounding could flip it. Drawn
    anew until `accept(params, x, y)` holds as well.
    """
    while True:
        params = random_params(rng, sizes)
        x = rng.normal(size=(batch, sizes[0])).astype(np.float32)
        y = rng.integers(sizes[-1], size=batch).astype(np.int32)
        if clearance(params, x) > margin and accept(params, x, y):
            return params, x, y


def clearance(params: Tree, x: np.ndarray) -> float:
    """How near to 0 any hidden value comes before its ReLU."""
    params, names = float64(params), layers(params)
    activations = _activations(params, np.asarray(x, np.float64), None)
    hidden = zip(names[:-1], activations, strict=False)
    return min(float(np.abs(_pre_activation(params[n], a)).min()) for n, a in hidden)


def _back_propagated(
    params: Tree, x: np.ndarray, errors: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The inputs of each layer and the gradients in what it puts out, first layer first."""
    params, names = float64(params), layers(params)
    activations = _activations(params, np.asarray(x, np.float64), None)[:-1]
    back = [np.asarray(errors, np.float64)]
    for name, values in zip(names[:0:-1], activations[:0:-1], strict=True):
        back.append(back[-1] @ params[name]["w"].T * (values > 0))
    return activations, back[::-1]


# Networks of any depth: gradients of the logits themselves


def pre_activations(params: Tree, x: np.ndarray) -> list[np.ndarray]:
    """What each layer gives before its ReLU, in numeric order; the last are the logits."""
    params = float64(params)
    inputs = _activations(params, np.asarray(x, np.float64), None)[:-1]
    names = layers(params)
    return [_pre_activation(params[name], h) for name, h in zip(names, inputs, strict=True)]


def pullback(
    params: Tree, x: np.ndarray, cotangent: np.ndarray
) -> tuple[dict[str, Any], np.ndarray]:
    """The gradient of `sum(cotangent * forward(params, x))` in params and in x."""
    params, x = float64(params), np.asarray(x, np.float64)
    before = pre_activations(params, x)
    delta = np.asarray(cotangent, np.float64)
    gradients = {}
    for number, name in reversed(list(enumerate(layers(params)))):
        inputs = np.atleast_2d(np.maximum(before[number - 1], 0.0) if number else x)
        deltas = np.atleast_2d(delta)
        gradients[name] = {"w": inputs.T @ deltas, "b": deltas.sum(axis=0)}
        delta = delta @ params[name]["w"].T
        if number:
            delta = delta * (before[number - 1] > 0)
    return gradients, delta


def clear_of_kinks(
    rng: np.random.Generator, sizes: Sequence[int], batch: int, margin: float = 1e-3
) -> tuple[dict[str, dict[str, np.ndarray]], np.ndarray]:
    """A network and normal float32 inputs with no value before a ReLU nearer to 0 than `margin`.

    There the gradient jumps, and rounding decides on which side a float32 network ends. Both are
    drawn anew, for where a whole layer is silent no other input moves the values behind it.
    """
    while True:
        params = random_params(rng, sizes)
        x = rng.normal(size=(batch, sizes[0])).astype(np.float32)
        if all(np.abs(before).min() > margin for before in pre_activations(params, x)[:-1]):
            return params, x


class Masks(NamedTuple):
    """What `read_masks` found; the masks are True where a unit survived."""

    keep1: np.ndarray
    """`(batch, width1)`; all True in a row that is not shown."""
    keep2: np.ndarray
    """`(batch, width2)`"""
    scale: float
    """What a survivor was multiplied by."""
    shown: np.ndarray
    """`(batch,)`: whether the first mask could be read, that is, enough of the second survived."""


def mask_reading_params(features: int, width1: int, width2: int) -> dict[str, Any]:
    """Parameters of three layers whose logits, `width2` of them, show two dropout masks.

    The first layer is 1 everywhere. A unit of the second is 1 plus the first layer summed with
    weights that are powers of two; unit 0 is just 1. The last layer is the identity.
    """
    powers = np.repeat(2.0 ** np.arange(width1)[:, None], width2, axis=1)
    powers[:, 0] = 0.0
    wide = {
        "layer1": {"w": np.zeros((features, width1)), "b": np.ones(width1)},
        "layer2": {"w": powers, "b": np.ones(width2)},
        "layer3": {"w": np.eye(width2), "b": np.zeros(width2)},
    }
    return tree_map(lambda leaf: leaf.astype(np.float32), wide)


def read_masks(logits: np.ndarray, width1: int) -> Masks | None:
    """The masks behind logits `(batch, width2)` of `mask_reading_params`; None if none fit."""
    values = np.asarray(logits, np.float64)
    keep2 = values != 0
    scales = values[keep2[:, 0], 0]
    if not len(scales) or scales.min() <= 0 or np.ptp(scales) > 1e-4 * scales[0]:
        return None
    scale = float(scales[0])
    shown = keep2[:, 1:].any(axis=1)
    totals = np.where(keep2[:, 1:], (values[:, 1:] / scale - 1.0) / scale, np.nan)[shown]
    codes = np.full(len(values), 2**width1 - 1)
    if len(totals):
        found = np.nanmax(totals, axis=1)
        spread = found - np.nanmin(totals, axis=1)
        if max(spread.max(), abs(found - np.rint(found)).max()) > 0.1:
            return None
        codes[shown] = np.rint(found)
    if codes.min() < 0 or codes.max() >= 2**width1:
        return None
    keep1 = (codes[:, None] >> np.arange(width1)) % 2 == 1
    return Masks(keep1, keep2, scale, shown)


def strongest_lag(zeroed: np.ndarray) -> tuple[int, float]:
    """How far apart, in flattened order, two elements' fates are most correlated, and how much."""
    fates = zeroed.reshape(-1).astype(np.float64)
    fates -= fates.mean()
    spectrum = np.abs(np.fft.rfft(fates)) ** 2
    correlation = np.fft.irfft(spectrum, fates.size) / max(float((fates**2).sum()), 1e-12)
    half = correlation[1 : fates.size // 2 + 1]
    lag = int(np.abs(half).argmax())
    return lag + 1, float(half[lag])


def strongest_link(first: np.ndarray, second: np.ndarray) -> float:
    """The largest size of a correlation of two grids of -1, 0 and 1 with each other.

    All shifts of the flattened grids are tried, as they are, flipped and transposed: a stream of
    random numbers that both were drawn from is found however its numbers were laid out.
    """
    grids = [first, first[:, ::-1], first[::-1], first[::-1, ::-1]]
    spectrum = np.fft.rfft(second.reshape(-1).astype(np.float64))
    turned = np.fft.rfft(second.T.reshape(-1).astype(np.float64))
    products = [
        np.conj(np.fft.rfft(grid.reshape(-1).astype(np.float64))) * other
        for grid in grids
        for other in (spectrum, turned)
    ]
    sums = np.fft.irfft(np.array(products), first.size)
    return float(np.abs(sums).max() / max(np.abs(first).sum(), 1))


# For clipping: training on one batch, and images that can be told apart in a gradient


class Descent(NamedTuple):
    """A training run on one batch; each entry belongs to the parameters before that step's update.

    `params` and `losses` and so on have one entry more than there are steps: the last is for the
    parameters that the run ends with.
    """

    params: list[dict[str, Any]]
    losses: np.ndarray
    gradients: list[dict[str, Any]]


def descend(
    params: Tree,
    x: np.ndarray,
    y: np.ndarray,
    n_steps: int,
    update: Callable[[int, Tree, Tree], Tree],
) -> Descent:
    """Trains for `n_steps`, of which step 1, 2, ... adds `update(step, gradient, params)`."""
    visited = [float64(params)]
    gradients = [gradient(params, x, y)]
    for step in range(1, n_steps + 1):
        visited.append(apply_updates(visited[-1], update(step, gradients[-1], visited[-1])))
        gradients.append(gradient(visited[-1], x, y))
    return Descent(visited, np.array([loss(now, x, y) for now in visited]), gradients)


def private_images(
    rng: np.random.Generator, params: Tree, rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """`rows` images of 784 pixels, of which image i alone has pixel i, and their labels.

    So the gradient of a batch shows in row i of the first layer's weights what share image i had in
    it. Each image's own gradient is large enough to be seen there, and float32 gets it right.
    """
    x = np.zeros((rows, 784), np.float32)
    y = np.zeros(rows, np.int32)
    bad = np.arange(rows)
    while len(bad):
        x[bad, bad] = rng.uniform(0.3, 1.0, size=len(bad))
        y[bad] = rng.integers(10, size=len(bad))
        seen = np.abs(private_gradients(params, x, y)).max(axis=1) > 0.02
        hidden = np.concatenate(pre_activations(params, x)[:-1], axis=1)
        bad = np.flatnonzero(~(seen & (np.abs(hidden).min(axis=1) > 1e-4)))
    return x, y


def private_gradients(params: Tree, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`(rows, units)`: the gradient of each private image in its own row of the first layer."""
    rows = np.arange(len(x))
    return per_example_gradients(params, x, y)["layer1"]["w"][rows, rows]
