"""Exercise 2, hidden: other batches, widths, dtypes and extremes, and what must not matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from grader.checks import agrees, array, close, integer, require, tree
from grader.plugin import item
from grader.student import Student, StudentRaised
from grader.values import jit
from tests import oracles
from tests.visible.test_per_example_grads import (
    ATOL,
    RTOL,
    check_gradients,
    check_largest,
    check_norms,
)


@item(
    "Any batch size: one example, a few hundred",
    points=1,
    hint="Does anything squeeze an axis, or rely on 32 examples?",
)
def test_any_batch_size(student, rng):
    for batch, compute in ((1, _eagerly), (40, _eagerly), (131, _jitted)):
        params, x, y = oracles.draw_examples(rng, batch=batch, margin=1e-4)
        check_gradients(compute(student, params, x, y), params, x, y)


@item(
    "Any widths and any number of classes",
    points=1,
    hint="Is a width or the number of classes written down? Is an axis told by its length?",
)
def test_any_widths(student, rng):
    """Widths all equal to the batch size too, where no axis can be told by its length."""

    def has_the_last_class(params: Mapping[str, Any], x: np.ndarray, y: np.ndarray) -> bool:
        return bool(y.max() == params["layer3"]["b"].size - 1 and y.min() < y.max())

    for sizes, batch in (((5, 5, 5, 5), 5), ((9, 3, 1, 13), 2)):
        params, x, y = oracles.draw_examples(rng, sizes, batch, accept=has_the_last_class)
        check_gradients(_jitted(student, params, x, y), params, x, y)


@item(
    "Confident predictions, right and wrong, have exact and finite gradients",
    points=1,
    hint="Large logits overflow a bare exp, and an added epsilon drowns small probabilities.",
)
def test_confident_predictions(student, rng):
    """Logits lie so far apart that every probability is 0 or 1 in float32."""

    def confident(params: Mapping[str, Any], x: np.ndarray, y: np.ndarray) -> bool:
        logits = oracles.forward(params, x)
        hits = int(np.sum(logits.argmax(axis=1) == y))
        return bool(_gaps(logits).min() > 0.4 and 2 <= hits <= 6 and logits.max() > 2)

    params, x, y = oracles.draw_examples(rng, accept=confident)
    params["layer3"] = {name: 100 * leaf for name, leaf in params["layer3"].items()}
    check_gradients(student.per_example_grads(params, x, y), params, x, y)


@item(
    "Gradients have the dtypes of the parameters, leaf by leaf",
    points=0.5,
    hint="What jax.grad returns already has the parameters' dtypes; is something converted?",
)
def test_dtypes_follow_params(student, rng):
    def rounded(params: Mapping[str, Any]) -> dict[str, Any]:
        """Layer 1's weights, layer 2's biases and all of layer 3 as bfloat16."""
        low = (("layer1", "w"), ("layer2", "b"), ("layer3", "w"), ("layer3", "b"))
        mixed = {name: dict(layer) for name, layer in params.items()}
        for name, part in low:
            mixed[name][part] = params[name][part].astype(ml_dtypes.bfloat16)
        return mixed

    params, x, y = oracles.draw_examples(
        rng, accept=lambda params, x, y: oracles.clearance(rounded(params), x) > 0.02
    )
    params = rounded(params)
    value = student.per_example_grads(params, x, y)
    check_gradients(value, params, x, y, rtol=0.05, atol=0.03)


@item(
    "No example's gradient depends on the other examples",
    points=0.5,
    hint="Is anything averaged, centred, clipped or sorted over the batch axis?",
)
def test_no_example_sees_another(student, rng):
    params, x, y = oracles.draw_examples(rng)
    _, others_x, others_y = oracles.draw_examples(rng)
    kept = np.sort(rng.choice(len(x), 3, replace=False))
    mixed_x, mixed_y = 10 * others_x, others_y
    mixed_x[kept], mixed_y[kept] = x[kept], y[kept]
    what = "per_example_grads(params, x, y)"
    before = tree(student.per_example_grads(params, x, y), params, leading=(8,), what=what)
    after = tree(
        student.per_example_grads(params, mixed_x, mixed_y), params, leading=(8,), what=what
    )
    for example in kept:
        alone = oracles.tree_map(lambda leaf: leaf[example], before)  # noqa: B023
        among_others = oracles.tree_map(lambda leaf: leaf[example], after)  # noqa: B023
        require(
            agrees(among_others, alone, rtol=1e-3, atol=ATOL),
            "The gradient of an example changed when only OTHER examples of the batch changed.",
        )
    replaced = np.setdiff1d(np.arange(len(x)), kept)[0]
    require(
        not agrees(
            oracles.tree_map(lambda leaf: leaf[replaced], after),
            oracles.tree_map(lambda leaf: leaf[replaced], before),
            rtol=1e-3,
            atol=ATOL,
        ),
        "The gradient of an example stayed the same when the example changed.",
    )


@item(
    "Every call answers for its own arguments",
    points=0.5,
    hint="Is something kept from an earlier call: a cache, a global, an array closed over by jit?",
)
def test_every_call_answers_for_its_own_arguments(student, rng):
    """What stays the same is the same object, not only equal."""
    drawn = oracles.draw_examples(rng)
    others = oracles.draw_examples(rng, accept=lambda params, x, y: np.all(y != drawn[2]))
    first, other = (
        [student.keep_run("common.made", value) for value in values] for values in (drawn, others)
    )
    known = [_both(student, drawn[0], first)]
    for position in range(3):
        changed = [*first]
        changed[position] = other[position]
        known.append(_both(student, drawn[0], changed))
    again = _both(student, drawn[0], first)
    close(again, known[0], rtol=RTOL, atol=ATOL, what="the same call, repeated later,")
    for name, result in zip(("params", "x", "y"), known[1:], strict=True):
        for function in ("per_example_grads", "grad_norms"):
            require(
                not agrees(result[function], known[0][function], rtol=1e-3, atol=1e-4),
                f"{function} returned the same for other {name}.",
            )


@item(
    "Nor does Python loop over examples when nothing is traced",
    points=0.5,
    hint="Does the code do something else outside jit than under jit?",
)
def test_python_does_not_loop(student, rng):
    """A loop shows at 40 examples already, one that waits for a large batch at 150."""
    params, x, y = oracles.draw_examples(rng, batch=150, margin=0.0)
    few = integer(student.run("per_example_grads.python_calls", params, x[:8], y[:8]))
    for batch in (40, 150):
        many = integer(student.run("per_example_grads.python_calls", params, x[:batch], y[:batch]))
        require(
            many <= 1.1 * few + 64,
            f"For 8 examples Python makes {few:,} function calls, for {batch} it makes {many:,}:"
            " outside jit there is a loop over examples.",
        )


@item(
    "Norms of one example and of 40, of huge gradients and of none",
    points=1,
    hint="An epsilon under the root, a clip or a squeeze shows here.",
)
def test_norms_of_extreme_gradients(student, rng):
    """Images 30 times as bright give huge ones; an error of e**-200 is 0 in float32."""
    for batch in (1, 40):
        params, x, y = oracles.draw_examples(rng, batch=batch, margin=1e-4)
        check_norms(student.grad_norms(params, x, y), params, x, y)

    params, x, y = oracles.draw_examples(
        rng, accept=lambda params, x, y: oracles.clearance(params, 30 * x) > 0.01
    )
    check_norms(student.grad_norms(params, 30 * x, y), params, 30 * x, y)

    params, x, _ = oracles.draw_examples(
        rng, accept=lambda params, x, y: _gaps(oracles.forward(params, x)).min() > 0.2
    )
    params["layer3"] = {name: 1000 * leaf for name, leaf in params["layer3"].items()}
    predicted = oracles.forward(params, x).argmax(axis=1).astype(np.int32)
    norms = array(student.grad_norms(params, x, predicted), shape=(8,), what="grad_norms")
    require(
        agrees(norms, np.zeros(8), rtol=0.0, atol=1e-5),
        "Where every gradient is exactly 0, grad_norms still gives"
        f" {float(np.abs(norms).max()):.1e}.",
    )


@item(
    "Examples with equal norms are each found once",
    points=0.5,
    hint="Looking an example up by its norm finds the same one twice.",
)
def test_equal_norms_give_distinct_indices(student, rng):
    params, x, y = oracles.draw_examples(rng)
    rows = rng.permutation([0, 0, 0, 1, 1, 2, 2, 2])
    value = student.largest_gradients(params, x[rows], y[rows], 6)
    check_largest(value, params, x[rows], y[rows], 6, student=student)


@item(
    "k = 1 and k = batch, for 300 examples and for one",
    points=0.5,
    hint="Both results have the shape (k,), also when k is 1; and every example is considered.",
)
def test_any_k(student, rng):
    """The largest is none of the first 32, which a batch of the lesson's size would hold.

    And a partial sort (argpartition) leaves up to 256 numbers in order by chance of its code.
    """
    params, x, y = oracles.draw_examples(
        rng,
        batch=300,
        margin=1e-4,
        accept=lambda *drawn: oracles.per_example_norms(*drawn).argmax() >= 32,
    )
    for rows, k in ((300, 1), (300, 299), (300, 300), (1, 1)):
        value = student.largest_gradients(params, x[:rows], y[:rows], k)
        check_largest(value, params, x[:rows], y[:rows], k, student=student)


@item(
    "The ranking goes by the gradient, where the loss says otherwise",
    points=0.5,
    hint="A small error on a large image can ask for more than a large error on a small one.",
)
def test_ranking_goes_by_the_gradient(student, rng):
    """The images' sizes turn the order of the losses round."""

    def opposed(params: Mapping[str, Any], x: np.ndarray, y: np.ndarray) -> bool:
        norms = oracles.per_example_norms(params, x, y)
        losses = oracles.cross_entropy(oracles.forward(params, x), y)
        return not set(np.argsort(-norms)[:2]) & set(np.argsort(-losses)[:2])

    params, x, y = oracles.draw_examples(rng, accept=opposed)
    check_largest(student.largest_gradients(params, x, y, 2), params, x, y, 2, student=student)


@item(
    "Norms that differ by a thousandth are still told apart",
    points=0.5,
    hint="Is anything rounded, or converted to a shorter dtype, before it is ranked?",
)
def test_nearly_equal_norms_are_ranked(student, rng):
    """Far enough apart for float32, whose error is about a hundredth of the smallest distance."""

    def nearly_equal(params: Mapping[str, Any], x: np.ndarray, y: np.ndarray) -> bool:
        alike = _alike(x)
        norms = np.sort(oracles.per_example_norms(params, alike, y[[0] * 8]))
        apart = np.diff(norms) / norms[:-1]
        clear = oracles.clearance(params, alike) > 1e-3
        return bool(clear and apart.min() > 4e-4 and apart.max() < 3e-3)

    params, x, y = oracles.draw_examples(rng, accept=nearly_equal)
    rows = rng.permutation(8)
    x, y = _alike(x)[rows], y[[0] * 8]
    check_largest(student.largest_gradients(params, x, y, 8), params, x, y, 8, student=student)


def _alike(x: np.ndarray) -> np.ndarray:
    """The first image eight times, each a little brighter than the one before."""
    return x[:1] * (1 + np.float32(1e-3) * np.arange(8, dtype=np.float32)[:, None])


def _eagerly(student: Student, *args: Any) -> Any:
    return student.per_example_grads(*args)


def _jitted(student: Student, *args: Any) -> Any:
    """As one compiled program, which is quicker; eagerly where jit fails, which others judge."""
    try:
        return student.under(jit()).per_example_grads(*args)
    except StudentRaised:
        return student.per_example_grads(*args)


def _gaps(logits: np.ndarray) -> np.ndarray:
    """How far each example's largest logit is ahead of its second."""
    return np.diff(np.sort(logits, axis=1)[:, -2:], axis=1)


def _both(student: Student, like: Mapping[str, Any], args: list[Any]) -> dict[str, Any]:
    """Gradients and norms, checked for their form."""
    grads, norms = student.per_example_grads(*args), student.grad_norms(*args)
    return {
        "per_example_grads": tree(grads, like, leading=(8,), what="per_example_grads"),
        "grad_norms": array(norms, shape=(8,), what="grad_norms"),
    }
