"""Known mistakes of clipping: what each would lead to, and a sentence about its idea."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grader.checks import Mistake
from tests import oracles
from tests.oracles import Descent

Tree = Any


def adam_updates(gradients: Sequence[Tree], learning_rate: float) -> dict[str, Tree]:
    """Adam's update for each of the gradients, from a fresh state."""
    adam = oracles.Adam(learning_rate)
    return numbered([adam.update(gradient) for gradient in gradients])


def clipped_updates(
    gradients: Sequence[Tree], clip_norm: float, learning_rate: float
) -> dict[str, Tree]:
    """What clipping by the global norm and then Adam make of the gradients."""
    clipped = [oracles.clip_by_global_norm(gradient, clip_norm) for gradient in gradients]
    return adam_updates(clipped, learning_rate)


def numbered(trees: Sequence[Tree]) -> dict[str, Tree]:
    """A tree of trees, in order."""
    return {f"step{number}": tree for number, tree in enumerate(trees, start=1)}


def in_updates(gradients: Sequence[Tree], clip_norm: float, learning_rate: float) -> list[Mistake]:
    """What could come instead of `clipped_updates`."""
    gradients = [oracles.float64(gradient) for gradient in gradients]

    def through(change: Callable[[Tree], Tree]) -> Callable[[], Tree]:
        return lambda: adam_updates(list(map(change, gradients)), learning_rate)

    def by(measure: Callable[[Tree], float]) -> Callable[[], Tree]:
        """Clipping by another measure of length."""
        return through(lambda g: _scaled(g, min(1.0, clip_norm / max(measure(g), 1e-30))))

    def size(tree: Tree) -> int:
        return sum(leaf.size for leaf in oracles.tree_leaves(tree))

    def joined(tree: Tree) -> np.ndarray:
        return np.concatenate([leaf.ravel() for leaf in oracles.tree_leaves(tree)])

    def adam_then_clip() -> Tree:
        updates = adam_updates(gradients, learning_rate)
        return {
            step: oracles.clip_by_global_norm(update, clip_norm) for step, update in updates.items()
        }

    def descent() -> Tree:
        clipped = [oracles.clip_by_global_norm(g, clip_norm) for g in gradients]
        return numbered([_scaled(g, -learning_rate) for g in clipped])

    def ascent() -> Tree:
        return _scaled(clipped_updates(gradients, clip_norm, learning_rate), -1.0)

    def per_leaf(gradient: Tree) -> Tree:
        return oracles.tree_map(lambda g: oracles.clip_by_global_norm(g, clip_norm), gradient)

    def per_layer(gradient: Tree) -> Tree:
        return {k: oracles.clip_by_global_norm(g, clip_norm) for k, g in gradient.items()}

    def elementwise(gradient: Tree) -> Tree:
        return oracles.tree_map(lambda g: np.clip(g, -clip_norm, clip_norm), gradient)

    return [
        Mistake(
            "not-clipped",
            "this is Adam on the gradient as it came; nothing was clipped.",
            through(lambda g: g),
        ),
        Mistake(
            "clipped-after-adam",
            "Adam saw the whole gradient, and its update was clipped afterwards. Which link of a"
            " chain sees the gradient first?",
            adam_then_clip,
        ),
        Mistake(
            "clipped-leaf-by-leaf",
            "each leaf was clipped by a norm of its own. That turns the gradient in another"
            " direction: one norm over all leaves gives one factor for all.",
            through(per_leaf),
        ),
        Mistake(
            "clipped-layer-by-layer",
            "each layer was clipped by a norm of its own. One norm over all of them gives one"
            " factor for all.",
            through(per_layer),
        ),
        Mistake(
            "clipped-element-by-element",
            "each number was clipped on its own. That turns the gradient in another direction;"
            " it is the length of the whole that is bounded.",
            through(elementwise),
        ),
        Mistake(
            "always-rescaled",
            "short gradients were stretched to the bound. What should happen to a gradient that is"
            " short enough already?",
            through(lambda g: _scaled(g, clip_norm / max(oracles.global_norm(g), 1e-30))),
        ),
        Mistake(
            "norm-squared",
            "the bound was compared with the sum of squares. One step is missing between that and"
            " a norm.",
            by(lambda g: oracles.global_norm(g) ** 2),
        ),
        Mistake(
            "root-mean-square",
            "the bound was compared with the root of the MEAN of squares, which forgets how many"
            " numbers there are.",
            by(lambda g: oracles.global_norm(g) / np.sqrt(size(g))),
        ),
        Mistake(
            "sum-of-magnitudes",
            "the bound was compared with the sum of the absolute values. Optax's global norm is"
            " the Euclidean one.",
            by(lambda g: float(np.abs(joined(g)).sum())),
        ),
        Mistake(
            "largest-magnitude",
            "the bound was compared with the largest absolute value. Optax's global norm is the"
            " Euclidean one, over all numbers.",
            by(lambda g: float(np.abs(joined(g)).max())),
        ),
        Mistake(
            "weights-only",
            "the norm was taken over the weights and left out the biases. Global means all leaves.",
            by(lambda g: oracles.global_norm({k: layer["w"] for k, layer in g.items()})),
        ),
        Mistake(
            "sum-of-leaf-norms",
            "the bound was compared with the sum of the leaves' norms. Norms do not add up; their"
            " squares do.",
            by(lambda g: sum(map(oracles.global_norm, oracles.tree_leaves(g)))),
        ),
        Mistake(
            "clip-norm-not-used",
            "this is clipping at 1.0, whatever clip_norm says.",
            lambda: clipped_updates(gradients, 1.0, learning_rate),
        ),
        Mistake(
            "learning-rate-not-used",
            "this is Adam with a learning rate of 1e-3, whatever learning_rate says.",
            lambda: clipped_updates(gradients, clip_norm, 1e-3),
        ),
        Mistake(
            "arguments-swapped",
            "clip_norm and learning_rate have changed places.",
            lambda: clipped_updates(gradients, learning_rate, clip_norm),
        ),
        Mistake(
            "plain-descent",
            "the gradient is clipped as it should be, but what follows is plain gradient descent.",
            descent,
        ),
        Mistake(
            "uphill",
            "every number has the opposite sign, so the loss would grow. What is added to the"
            " parameters points downhill.",
            ascent,
        ),
    ]


def in_losses(run: Descent, batch_size: int) -> list[Mistake]:
    """What could stand in the place of each step's loss before its update."""
    losses = run.losses[:-1]
    return [
        Mistake(
            "loss-after-update",
            "each is the loss that the step's update led to. value_and_grad gives the one before.",
            run.losses[1:],
        ),
        Mistake(
            "running-mean",
            "each is the mean of all losses so far. The run should record every step's own.",
            np.cumsum(losses) / np.arange(1, len(losses) + 1),
        ),
        Mistake(
            "summed-over-batch",
            "each is too large by the batch size: a sum where loss_fn takes a mean.",
            losses * batch_size,
        ),
        Mistake(
            "norm-for-loss",
            "these are the gradient norms. In which order does Run hold its fields?",
            _norms(run)[:-1],
        ),
        Mistake("last-first", "the steps are in reversed order.", losses[::-1]),
    ]


def in_norms(
    run: Descent, clip_norm: float, learning_rate: float, batch_size: int
) -> list[Mistake]:
    """What could stand in the place of the raw gradient's norm; the run clips and descends."""
    gradients = run.gradients[:-1]
    norms = _norms(run)
    clipped = np.minimum(norms, clip_norm)[:-1]

    def each(measure: Callable[[Tree], float]) -> Callable[[], np.ndarray]:
        return lambda: np.array([measure(gradient) for gradient in gradients])

    def leaf_norms(tree: Tree) -> list[float]:
        return [oracles.global_norm(leaf) for leaf in oracles.tree_leaves(tree)]

    return [
        Mistake(
            "norm-after-clipping",
            "none is above the bound: they were measured after clipping. Which gradient is raw?",
            clipped,
        ),
        Mistake(
            "norm-of-the-update",
            "they are the norms of what was added to the parameters, not of the gradient.",
            learning_rate * clipped,
        ),
        Mistake(
            "norm-after-update",
            "each belongs to the parameters after its step's update, not before it.",
            norms[1:],
        ),
        Mistake(
            "norm-squared",
            "they are squares of norms: the sum of squares needs one more step.",
            norms[:-1] ** 2,
        ),
        Mistake(
            "norm-of-parameters",
            "they are norms of the parameters, not of the gradient.",
            lambda: np.array([oracles.global_norm(now) for now in run.params[:-1]]),
        ),
        Mistake(
            "sum-of-leaf-norms",
            "they are sums of the leaves' norms. Norms do not add up; their squares do.",
            each(lambda g: sum(leaf_norms(g))),
        ),
        Mistake(
            "mean-of-leaf-norms",
            "they are means of the leaves' norms. The global norm is one over all numbers.",
            each(lambda g: float(np.mean(leaf_norms(g)))),
        ),
        Mistake(
            "largest-leaf-norm",
            "they are the norms of one leaf, the largest. Global means all leaves together.",
            each(lambda g: max(leaf_norms(g))),
        ),
        Mistake(
            "weights-only",
            "they leave out the biases. Global means all leaves.",
            each(lambda g: oracles.global_norm({k: layer["w"] for k, layer in g.items()})),
        ),
        Mistake(
            "root-mean-square",
            "they are divided by the root of how many numbers there are: a mean of squares where"
            " a norm takes the sum.",
            each(
                lambda g: (
                    oracles.global_norm(g)
                    / np.sqrt(sum(leaf.size for leaf in oracles.tree_leaves(g)))
                )
            ),
        ),
        Mistake(
            "summed-over-batch",
            "they are too large by the batch size: the gradient is that of the mean loss.",
            norms[:-1] * batch_size,
        ),
        Mistake(
            "loss-for-norm",
            "these are the losses. In which order does Run hold its fields?",
            run.losses[:-1],
        ),
    ]


def in_changes(run: Descent, gradients_used: Sequence[Tree]) -> list[Mistake]:
    """What training could have added to the first parameters instead; see `changes`."""
    start = run.params[0]

    def adam() -> Tree:
        # The lesson's optimizer instead of the one that is given, along the right path.
        updates = adam_updates(gradients_used, 1e-3).values()
        total = oracles.tree_map(np.zeros_like, start)
        for update in updates:
            total = oracles.apply_updates(total, update)
        return total

    return [
        Mistake(
            "untrained",
            "they are the parameters that it was given. Each step has to hand its new parameters"
            " to the next.",
            oracles.tree_map(np.zeros_like, start),
        ),
        Mistake(
            "one-update-short",
            "they are the parameters before the last update.",
            changes(run, len(run.params) - 2),
        ),
        Mistake(
            "uphill",
            "they went the wrong way: updates are added to the parameters.",
            lambda: _scaled(changes(run, 1), -1.0),
        ),
        Mistake("first-step-only", "only the first update was kept.", changes(run, 1)),
        Mistake(
            "own-adam",
            "this is Adam with a learning rate of 1e-3, not the optimizer that was given.",
            adam,
        ),
    ]


def changes(run: Descent, steps: int) -> Tree:
    """By how much the first `steps` updates have moved the parameters."""
    return oracles.tree_map(lambda now, start: now - start, run.params[steps], run.params[0])


def in_batch_norms(
    weights: np.ndarray, each: Tree, every_loss: np.ndarray, clip_norm: float
) -> list[Mistake]:
    """What could stand in the place of the norm of each batch's mean gradient.

    `weights` is (steps, images), the share of each image in each batch; `each` and `every_loss` are
    the images' own gradients and losses.
    """
    own = np.sqrt(
        sum((leaf**2).reshape(len(leaf), -1).sum(axis=1) for leaf in oracles.tree_leaves(each))
    )
    return [
        Mistake(
            "mean-of-norms",
            "they are means of the examples' own norms. Average the gradients first, then measure.",
            weights @ own,
        ),
        Mistake(
            "norm-after-clipping",
            f"they seem to be cut at {clip_norm:g}, though this optimizer does not clip.",
            np.minimum(batch_norms(weights, each), clip_norm),
        ),
        Mistake("loss-for-norm", "these are the losses.", weights @ every_loss),
    ]


def batch_norms(weights: np.ndarray, each: Tree) -> np.ndarray:
    """The norm of the weighted sum of gradients, for each row of weights."""
    squares = [
        ((weights @ leaf.reshape(len(leaf), -1)) ** 2).sum(axis=1)
        for leaf in oracles.tree_leaves(each)
    ]
    return np.sqrt(np.sum(squares, axis=0))


def in_curves(values: np.ndarray, other: np.ndarray, clip_norm: float) -> list[Mistake]:
    """What could be drawn in the place of a series of norms."""
    return [
        Mistake(
            "logarithms",
            "what is drawn are logarithms. Draw the values, and let the axis be logarithmic.",
            np.log10(values),
        ),
        Mistake(
            "logarithms",
            "what is drawn are logarithms. Draw the values, and let the axis be logarithmic.",
            np.log(values),
        ),
        Mistake(
            "cut-at-the-bound",
            "what is drawn is cut off at clip_norm. The raw norms show what clipping changed.",
            np.minimum(values, clip_norm),
        ),
        Mistake("summed-up", "what is drawn adds up over the steps.", np.cumsum(values)),
        Mistake("sorted", "what is drawn is sorted; the steps are lost.", np.sort(values)),
        Mistake(
            "divided-by-the-largest",
            "what is drawn is divided by its largest value.",
            values / values.max(),
        ),
        Mistake(
            "divided-by-the-bound",
            "what is drawn is divided by clip_norm.",
            values / clip_norm,
        ),
        Mistake(
            "cut-to-one-length",
            "the longer curve ends where the shorter one does. Each has steps of its own.",
            values[: len(other)],
        ),
    ]


def _norms(run: Descent) -> np.ndarray:
    return np.array([oracles.global_norm(gradient) for gradient in run.gradients])


def _scaled(tree: Tree, factor: float) -> Tree:
    return oracles.tree_map(lambda leaf: leaf * factor, tree)
