"""Known mistakes of per_example_grads: what each would return, and a sentence about its idea.

The tables are generators, so that a right answer costs nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from grader.checks import Mistake, fail
from tests import oracles

Params = Mapping[str, Any]


def in_gradients(params: Params, x: np.ndarray, y: np.ndarray) -> Iterator[Mistake]:
    """What could stand in the place of the gradient at each example alone."""
    logits = oracles.forward(params, x)
    n_classes = logits.shape[1]
    one_hot = np.eye(n_classes)[y]
    right = oracles.per_example_gradients(params, x, y)
    norms = oracles.per_example_norms(params, x, y)

    def labelled(labels: np.ndarray) -> Any:
        return oracles.per_example_gradients(params, x, labels)

    def from_errors(errors: np.ndarray) -> Any:
        return oracles.gradients_from_errors(params, x, errors)

    def scaled(factors: Any) -> Any:
        return oracles.tree_map(
            lambda leaf: leaf * np.reshape(factors, (-1, *[1] * (leaf.ndim - 1))), right
        )

    def without_biases() -> Any:
        return {name: {"w": layer["w"], "b": 0 * layer["b"]} for name, layer in right.items()}

    yield from (
        Mistake(
            "divided-by-batch",
            "every entry is too small by the same factor, the batch size. Nothing is averaged here:"
            " each example's loss is differentiated on its own.",
            lambda: scaled(1 / len(x)),
        ),
        Mistake(
            "multiplied-by-batch",
            "every entry is too large by the same factor, the batch size. Each example is a batch"
            " of its own, and its gradient needs no correction.",
            lambda: scaled(len(x)),
        ),
        Mistake(
            "mean-for-everyone",
            "every example has got the same gradient, the mean of the batch. Which arguments are"
            " mapped over, and which are the same for every example?",
            lambda: oracles.tree_map(lambda leaf: np.broadcast_to(leaf.mean(0), leaf.shape), right),
        ),
        Mistake(
            "sum-for-everyone",
            "every example has got the same gradient, the sum over the batch. Which arguments are"
            " mapped over, and which are the same for every example?",
            lambda: oracles.tree_map(lambda leaf: np.broadcast_to(leaf.sum(0), leaf.shape), right),
        ),
        Mistake(
            "negated",
            "every entry has the opposite sign. The gradient points to where the loss grows; it is"
            " the optimizer that turns round.",
            lambda: scaled(-1.0),
        ),
        Mistake(
            "examples-reversed",
            "the gradients are those of the batch from its last example to its first.",
            lambda: oracles.tree_map(lambda leaf: leaf[::-1], right),
        ),
        Mistake(
            "biases-forgotten",
            "the weights are right and the biases are all zero. A bias has a gradient too.",
            without_biases,
        ),
        # One mistake to a message: where every gradient is longer than 1 the two do the same.
        Mistake(
            "rescaled",
            "gradients have been cut or stretched to norm 1. They are asked for as they are.",
            lambda: scaled(np.minimum(1.0, 1 / np.maximum(norms, 1e-12))),
        ),
        Mistake(
            "rescaled",
            "gradients have been cut or stretched to norm 1. They are asked for as they are.",
            lambda: scaled(1 / np.maximum(norms, 1e-12)),
        ),
        Mistake(
            "one-label-for-all",
            "every example has been held against the label of the first. The labels are mapped"
            " over as the images are.",
            lambda: labelled(np.broadcast_to(y[:1], y.shape)),
        ),
        Mistake(
            "predictions-as-labels",
            "the network's own predictions have been taken for the labels; `y` plays no part.",
            lambda: labelled(logits.argmax(axis=1)),
        ),
        Mistake(
            "squared-error",
            "this is the gradient of a squared error. `loss_fn` is the softmax cross-entropy.",
            lambda: from_errors(2 * (logits - one_hot) / n_classes),
        ),
        Mistake(
            "sigmoid-not-softmax",
            "this is the gradient of ten separate yes-or-no losses (a sigmoid a class). In"
            " `loss_fn` the classes share one softmax.",
            lambda: from_errors(1 / (1 + np.exp(-logits)) - one_hot),
        ),
        Mistake(
            "relu-on-logits",
            "a ReLU has been put on the logits too. The last layer has none.",
            lambda: from_errors(
                (np.exp(oracles.log_softmax(np.maximum(logits, 0))) - one_hot) * (logits > 0)
            ),
        ),
    )


def in_norms(params: Params, x: np.ndarray, y: np.ndarray) -> Iterator[Mistake]:
    """What could stand in the place of the global norm of each example's gradient."""
    grads = oracles.per_example_gradients(params, x, y)
    right = oracles.per_example_norms(params, x, y)
    leaves = [np.reshape(leaf, (len(x), -1)) for layer in grads.values() for leaf in layer.values()]
    every = np.concatenate(leaves, axis=1)
    of_leaves = np.stack([np.linalg.norm(leaf, axis=1) for leaf in leaves])

    def of(layers: tuple[str, ...], parts: tuple[str, ...]) -> np.ndarray:
        chosen = [np.reshape(grads[name][part], (len(x), -1)) for name in layers for part in parts]
        return np.linalg.norm(np.concatenate(chosen, axis=1), axis=1)

    layers = ("layer1", "layer2", "layer3")
    yield from (
        Mistake(
            "squared",
            "these are the squared norms: a root is missing.",
            lambda: right**2,
        ),
        Mistake(
            "sum-of-leaf-norms",
            "the norms of the leaves have been added up. The leaves are parts of ONE long vector:"
            " what adds up are the squares.",
            lambda: of_leaves.sum(axis=0),
        ),
        Mistake(
            "mean-of-leaf-norms",
            "the norms of the leaves have been averaged. The leaves are parts of ONE long vector.",
            lambda: of_leaves.mean(axis=0),
        ),
        Mistake(
            "largest-leaf-norm",
            "only each example's longest leaf counts. The leaves are parts of ONE long vector.",
            lambda: of_leaves.max(axis=0),
        ),
        Mistake(
            "weights-only",
            "the biases are left out. ALL leaves belong to the norm.",
            lambda: of(layers, ("w",)),
        ),
        Mistake(
            "biases-only",
            "the weights are left out. ALL leaves belong to the norm.",
            lambda: of(layers, ("b",)),
        ),
        Mistake(
            "one-layer-only",
            "only one layer is counted. ALL leaves belong to the norm.",
            lambda: of(("layer3",), ("w", "b")),
        ),
        Mistake(
            "one-layer-only",
            "only one layer is counted. ALL leaves belong to the norm.",
            lambda: of(("layer1",), ("w", "b")),
        ),
        Mistake(
            "l1-norm",
            "absolute values have been added up (an L1 norm). The L2 norm adds squares.",
            lambda: np.abs(every).sum(axis=1),
        ),
        Mistake(
            "largest-entry",
            "this is the largest entry of each gradient. The L2 norm takes in all of them.",
            lambda: np.abs(every).max(axis=1),
        ),
        Mistake(
            "root-mean-square",
            "the squares have been averaged where they should be added up.",
            lambda: right / np.sqrt(every.shape[1]),
        ),
        Mistake(
            "norm-of-the-mean",
            "every example has got the norm of the batch's mean gradient. The norm comes first:"
            " one for each example.",
            lambda: np.full(len(x), np.linalg.norm(every.mean(axis=0))),
        ),
        Mistake(
            "divided-by-batch",
            "every norm is too small by the same factor, the batch size.",
            lambda: right / len(x),
        ),
        Mistake(
            "multiplied-by-batch",
            "every norm is too large by the same factor, the batch size.",
            lambda: right * len(x),
        ),
        Mistake(
            "losses",
            "these are the examples' losses, not the norms of their gradients.",
            lambda: oracles.cross_entropy(oracles.forward(params, x), y),
        ),
        Mistake(
            "sorted",
            "the right norms have been sorted. Entry i belongs to example i.",
            lambda: np.sort(right)[::-1],
        ),
        Mistake(
            "sorted",
            "the right norms have been sorted. Entry i belongs to example i.",
            lambda: np.sort(right),
        ),
    )


def in_order(norms: np.ndarray, losses: np.ndarray, k: int) -> Iterator[Mistake]:
    """What the indices of the `k` largest of `norms` could be instead."""
    largest_first = np.argsort(-norms)
    yield from (
        Mistake(
            "smallest-first",
            "These are the SMALLEST norms. In which order does the sort that you use go?",
            np.argsort(norms)[:k],
        ),
        Mistake(
            "ascending",
            "The right examples have been found, but the largest comes last.",
            largest_first[:k][::-1],
        ),
        Mistake(
            "in-batch-order",
            "The right examples have been found, but they stand in the order of the batch.",
            np.sort(largest_first[:k]),
        ),
        Mistake(
            "counted-from-one",
            "The positions are counted from 1. Python and JAX count from 0.",
            largest_first[:k] + 1,
        ),
        Mistake(
            "from-the-end",
            "The positions are negative, counted from the end. Count them from the front.",
            largest_first[:k] - len(norms),
        ),
        Mistake(
            "ranked-by-loss",
            "The examples have been ranked by their losses. A large loss often has a large"
            " gradient, but not always.",
            np.argsort(-losses)[:k],
        ),
        Mistake(
            "largest-left-out",
            "The very largest has been left out.",
            largest_first[1 : k + 1],
        ),
        Mistake("first-k", "These are the first k examples of the batch, unranked.", np.arange(k)),
    )


def in_largest_norms(
    norms: np.ndarray, indices: np.ndarray, losses: np.ndarray
) -> Iterator[Mistake]:
    """What could stand in the place of `norms[indices]`."""
    yield from (
        Mistake("squared", "these are the squared norms: a root is missing.", norms[indices] ** 2),
        Mistake(
            "losses",
            "these are the examples' losses, not the norms of their gradients.",
            losses[indices],
        ),
        Mistake(
            "norms-ascending",
            "these are the right norms, but the smallest comes first, unlike in the indices.",
            norms[indices][::-1],
        ),
        Mistake(
            "first-k",
            "these are the norms of the first k examples, not of those at the indices.",
            norms[: len(indices)],
        ),
    )


def fail_for_order(indices: np.ndarray, norms: np.ndarray, losses: np.ndarray) -> None:
    """Fails with the mistake's name where `indices` are those of exactly one known mistake."""
    known = in_order(norms, losses, len(indices))
    found = {m.id: m for m in known if np.array_equal(m.outcome(), indices)}
    if len(found) == 1:
        for mistake in found.values():
            fail(mistake.sentence, mistake.id)


def fail_for_swapped(first: Any, second: Any) -> None:
    """Fails with the mistake's name for `(norms, indices)`."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        kinds = first.dtype.kind in "iu", second.dtype.kind in "iu"
        if kinds == (False, True):
            fail("(norms, indices) came back; expected (indices, norms).", "swapped")


def fail_for_norms_form(value: Any, batch: int) -> None:
    """Fails with the mistake's name where norms have the form of a known mistake."""
    if isinstance(value, float) or (isinstance(value, np.ndarray) and value.shape == ()):
        fail(
            "grad_norms returns one number for the whole batch; expected one for each example.",
            "one-norm-for-all",
        )
    if isinstance(value, Mapping):
        fail(
            "grad_norms returns a norm for each leaf; expected one for each example, over all"
            " leaves together.",
            "norms-of-leaves",
        )
    if isinstance(value, np.ndarray) and value.shape == (batch, 1) and batch > 1:
        fail(
            f"grad_norms returns a column of shape {value.shape}; expected the shape ({batch},).",
            "column",
        )


def fail_for_form(value: Any, params: Params, x: np.ndarray) -> None:
    """Fails with the mistake's name where gradients have the form of a known mistake."""
    if isinstance(value, tuple):
        fail(
            "per_example_grads returns a tuple; expected only the gradients, a pytree like params.",
            "more-than-gradients",
        )
    if isinstance(value, np.ndarray):
        if value.shape == x.shape:
            fail(
                f"The result is one array of the shape of x, {x.shape}. Asked for is the gradient"
                " in the parameters: which argument does jax.grad differentiate?",
                "gradient-in-x",
            )
        return
    shapes = _shapes(value)
    like = _shapes(params)
    if shapes == like:
        fail(
            "The leaves have the shapes of params itself: one gradient for the whole batch. The"
            " examples' gradients were summed or averaged; which axis should still be there?",
            "no-batch-axis",
        )
    if shapes == {path: (*shape, len(x)) for path, shape in like.items()} and any(
        len(set(shape)) > 1 for shape in shapes.values()
    ):
        fail(
            "The batch axis is the last one of every leaf; it belongs in front.",
            "batch-axis-last",
        )


def _shapes(tree: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], tuple[int, ...]]:
    if isinstance(tree, Mapping):
        return {
            key: shape
            for name, branch in tree.items()
            for key, shape in _shapes(branch, (*path, str(name))).items()
        }
    return {path: np.shape(tree)} if isinstance(tree, np.ndarray) else {}
