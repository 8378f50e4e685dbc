"""Exercise 2: what per-example gradients, their norms and the ranking by norm must be."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.checks import CheckFailed, agrees, array, close, described, fail, integer, require, tree
from grader.plugin import Exercise, item
from grader.student import Student, StudentFault
from grader.values import jit
from grader.wire import Record
from tests import oracles
from tests.mistakes import per_example_grads as mistakes

EXERCISE = Exercise(
    order=2,
    title="Per-example gradients with jax.vmap",
    hints=(
        "loss_fn also takes ONE image and its label. Write the gradient for one example first, and"
        " compare it by eye with that of another example.",
        "jax.vmap turns a function of one example into a function of a batch. For each argument it"
        " must know whether it has a batch axis (0) or is the same for every example (None).",
        "The outer transformation maps, the inner one differentiates. For the norms: square, add up"
        " within each example over every axis but the first, over all leaves, and take ONE root.",
    ),
    manual={"EXPLANATION": 4.0},
)

RTOL, ATOL = 1e-4, 1e-5
FLOATS = ("float16", "bfloat16", "float32", "float64")


@item(
    "Every leaf gains a leading batch axis and keeps its dtype",
    points=1,
    hint="Print jax.tree.map(jnp.shape, ...) of params and of your result, one above the other.",
)
def test_every_leaf_gains_a_batch_axis(student, rng):
    params, x, y = _draw(rng)
    value = student.per_example_grads(params, x, y)
    mistakes.fail_for_form(value, params, x)
    tree(value, params, leading=(len(x),), what="per_example_grads(params, x, y)")


@item(
    "Entry i is the gradient of loss_fn at example i alone",
    points=1.5,
    hint="jax.grad(loss_fn)(params, x[i], y[i]), put beside entry i of your result, must agree.",
)
def test_each_entry_is_the_gradient_at_its_example(student, rng):
    params, x, y = _draw(rng, accept=_labels_matter)
    check_gradients(student.per_example_grads(params, x, y), params, x, y)


@item(
    "jax.jit(per_example_grads) gives the same gradients",
    points=1,
    hint="Under jit only shapes and dtypes are known: no NumPy, no float(), no if on values.",
)
def test_works_under_jit(student, rng):
    params, x, y = _draw(rng)
    jitted = student.under(jit()).per_example_grads(params, x, y)
    try:
        check_gradients(jitted, params, x, y, what="jax.jit(per_example_grads)(params, x, y)")
    except CheckFailed:
        # Gradients that are wrong without jit too lose their own items, not this one.
        own = own_gradients(student, params, x, y)
        if own is None or not agrees(jitted, own, rtol=RTOL, atol=ATOL):
            raise


@item(
    "There is no loop over examples: the traced program does not grow with the batch",
    points=1.5,
    hint="A for, a list comprehension, lax.map and lax.scan visit examples one by one. jax.vmap"
    " adds an axis to every operation instead.",
)
def test_traced_program_does_not_grow(student, rng):
    """Counts operations at growing batch sizes; a loop shows long before the last of them."""
    params, _, _ = _draw(rng)
    first = 0
    for batch in (8, 64, 3001):
        x, y = np.zeros((batch, 784), np.float32), np.zeros(batch, np.int32)
        operations = integer(student.run("per_example_grads.operations", params, x, y))
        loops = integer(student.run("per_example_grads.while_loops", params, x, y))
        first = first or operations
        require(
            operations <= 1.5 * first + 10,
            f"For 8 examples the traced program carries out {first:,} operations, for {batch:,} it"
            f" is {operations:,}: there is a loop over examples, in Python or by scan or map.",
        )
        require(
            loops == 0,
            "The traced program holds a while loop (fori_loop makes one too). Examples are to be"
            " mapped over by a batch axis, not visited one by one.",
        )


@item(
    "A gradient's norm takes in every leaf",
    points=1,
    hint="The parameters are one long vector, cut into leaves. What is the length of the whole?",
)
def test_norms_take_in_every_leaf(student, rng):
    params, x, y = _draw(rng)
    check_norms(student.grad_norms(params, x, y), params, x, y, student=student)


@item(
    "The largest gradients come first, with their norms",
    points=1,
    hint="Which way does your sort go? And do indices[0] and norms[0] speak of the same example?",
)
def test_largest_come_first(student, rng):
    params, x, y = _draw(rng, accept=_clear_order)
    for k in (3, 5):
        value = student.largest_gradients(params, x, y, k)
        check_largest(value, params, x, y, k, student=student)


@item(
    "The arguments stay as they were",
    points=0.5,
    hint="Make new dictionaries and arrays (jax.tree.map does); donate nothing of the caller's.",
)
def test_arguments_stay_as_they_were(student, rng):
    """As many features as classes: a donated `x` could hold the gradients of the last biases."""
    params, x, y = oracles.draw_examples(rng, (10, 16, 12, 10), 32)
    calls = {"per_example_grads": (), "grad_norms": (), "largest_gradients": (2,)}
    for name, rest in calls.items():
        getattr(student.keep, name)(params, x, y, *rest)
        changed = [("params", "x", "y")[int(i)] for i in student.changed if i in ("0", "1", "2")]
        require(
            not changed,
            f"{name} changed, deleted or donated its argument {' and '.join(changed)}. What a"
            " caller passes in stays the caller's.",
        )


@item(
    "EXPLANATION says something",
    points=0.5,
    hint="Run the file, look at the table, and write down which images lead it and why.",
)
def test_explanation_is_written(student):
    value = student.get("EXPLANATION")
    require(
        isinstance(value, str),
        f"EXPLANATION should be a string, but it is {described(value)}.",
    )
    # Whatever no person could read is blank: spaces, controls, zero-width characters.
    require(
        any(unicodedata.category(character)[0] not in "ZC" for character in value),
        "EXPLANATION is blank. Which examples have the largest gradients, and why? A person will"
        " read it; any honest observation is a start.",
    )


def check_gradients(
    value: Any,
    params: Mapping[str, Any],
    x: np.ndarray,
    y: np.ndarray,
    *,
    what: str = "per_example_grads(params, x, y)",
    rtol: float = RTOL,
    atol: float = ATOL,
) -> None:
    """Fails unless `value` holds every example's gradient in the form that is asked for.

    `atol` is relative to the largest entry of all.
    """
    mistakes.fail_for_form(value, params, x)
    got = tree(value, params, leading=(len(x),), what=what)
    want = oracles.per_example_gradients(params, x, y)
    largest = max(float(np.abs(leaf).max()) for leaf in oracles.tree_leaves(want))
    known = mistakes.in_gradients(params, x, y)
    close(got, want, rtol=rtol, atol=atol * largest, what=what, mistakes=known)


def check_norms(
    value: Any,
    params: Mapping[str, Any],
    x: np.ndarray,
    y: np.ndarray,
    *,
    student: Student | None = None,
) -> None:
    """Fails unless `value` holds the global norm of every example's gradient.

    With `student` given, right norms of that student's own, wrong gradients are accepted as well.
    """
    what = "grad_norms(params, x, y)"
    mistakes.fail_for_norms_form(value, len(x))
    got = array(value, shape=(len(x),), what=what)
    _require_floats(got, what)
    want = oracles.per_example_norms(params, x, y)
    atol = ATOL * float(want.max())
    if student and not agrees(got, want, rtol=RTOL, atol=atol):
        own = own_gradients(student, params, x, y)
        if own is not None and agrees(got, _norms(own), rtol=RTOL, atol=ATOL):
            return
    close(got, want, rtol=RTOL, atol=atol, what=what, mistakes=mistakes.in_norms(params, x, y))


def check_largest(
    value: Any,
    params: Mapping[str, Any],
    x: np.ndarray,
    y: np.ndarray,
    k: int,
    *,
    student: Student | None = None,
) -> None:
    """Fails unless `value` is `(indices, norms)` of the `k` largest gradients, largest first.

    With `student` given, a right ranking by that student's own, wrong norms is accepted as well.
    """
    pair = value.values if isinstance(value, Record) else value
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        fail(
            f"largest_gradients should return the two arrays (indices, norms), but it returned"
            f" {described(value)}."
        )
    mistakes.fail_for_swapped(*pair)
    indices = array(pair[0], shape=(k,), what="indices")
    require(
        indices.dtype.kind in "iu",
        f"indices should be integers, but their dtype is {indices.dtype.name}.",
    )
    norms = array(pair[1], shape=(k,), what="norms")
    _require_floats(norms, "norms")
    indices = indices.astype(np.int64)
    all_norms = oracles.per_example_norms(params, x, y)
    try:
        _check_ranking(
            indices, norms, all_norms, oracles.cross_entropy(oracles.forward(params, x), y)
        )
    except CheckFailed:
        own = own_norms(student, params, x, y) if student else None
        if own is None:
            raise
        try:
            _check_ranking(indices, norms, own, own)
        except CheckFailed:
            pass
        else:
            return
        raise


def own_gradients(
    student: Student, params: Mapping[str, Any], x: np.ndarray, y: np.ndarray
) -> dict[str, Any] | None:
    """The student's gradients as a yardstick for what is built on them; None where they are none.

    They must have the right form and differ from example to example.
    """
    try:
        value = student.per_example_grads(params, x, y)
        own = tree(value, params, leading=(len(x),))
    except (CheckFailed, StudentFault):
        return None
    return own if _vary(_norms(own)) else None


def own_norms(
    student: Student, params: Mapping[str, Any], x: np.ndarray, y: np.ndarray
) -> np.ndarray | None:
    """The student's norms as a yardstick for the ranking; None where they are none."""
    try:
        own = array(student.grad_norms(params, x, y), shape=(len(x),))
    except (CheckFailed, StudentFault):
        return None
    return own.astype(np.float64) if _vary(own) else None


def _check_ranking(
    indices: np.ndarray, norms: np.ndarray, all_norms: np.ndarray, losses: np.ndarray
) -> None:
    k = len(indices)
    close_enough = {"rtol": RTOL, "atol": ATOL}
    largest = np.sort(all_norms)[::-1][:k]
    inside = bool(np.all((indices >= 0) & (indices < len(all_norms))))
    if not inside or not agrees(all_norms[indices], largest, **close_enough):
        mistakes.fail_for_order(indices, all_norms, losses)
        require(inside, "indices holds positions that the batch does not have.")
        fail(f"The examples at indices are not the {k} with the largest norms, largest first.")
    require(
        len(set(indices.tolist())) == k,
        f"indices names an example more than once: of {k} only {len(set(indices.tolist()))} differ."
        " Examples may have equal norms and are still different examples.",
    )
    if not agrees(norms, all_norms[indices], **close_enough):
        known = mistakes.in_largest_norms(all_norms, indices, losses)
        close(
            norms,
            all_norms[indices],
            what="norms (at your indices)",
            mistakes=known,
            **close_enough,
        )


def _norms(grads: Mapping[str, Any]) -> np.ndarray:
    leaves = oracles.tree_leaves(oracles.float64(grads))
    squares = [np.sum(leaf**2, axis=tuple(range(1, leaf.ndim))) for leaf in leaves]
    return np.sqrt(np.sum(squares, axis=0))


def _vary(norms: np.ndarray) -> bool:
    """Whether norms are positive and, where there are several, not all the same."""
    norms = norms.astype(np.float64)
    spread = np.ptp(norms) > 1e-3 * norms.max() or len(norms) == 1
    return bool(spread and norms.min() >= 0 and norms.max() > 0)


def _require_floats(value: np.ndarray, what: str) -> None:
    require(
        value.dtype.name in FLOATS,
        f"{what} should be floating point, but its dtype is {value.dtype.name}.",
    )


def _draw(
    rng: np.random.Generator, **options: Any
) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """32 examples and a network with the lesson's inputs and outputs, narrower in between."""
    return oracles.draw_examples(rng, (784, 16, 12, 10), 32, margin=1e-4, **options)


def _labels_matter(params: Mapping[str, Any], x: np.ndarray, y: np.ndarray) -> bool:
    """Labels differ from the first one and from the predictions, and agree with some of these."""
    predicted = oracles.forward(params, x).argmax(axis=1)
    return len(set(y.tolist())) > 2 and 0 < np.sum(predicted == y) < len(y)


def _clear_order(params: Mapping[str, Any], x: np.ndarray, y: np.ndarray) -> bool:
    """Largest norms that differ clearly, neither in the order of the losses nor of the batch."""
    norms = oracles.per_example_norms(params, x, y)
    losses = oracles.cross_entropy(oracles.forward(params, x), y)
    order = np.argsort(-norms)
    steps = -np.diff(norms[order[:6]])
    return bool(
        steps.min() > 0.01 * norms.max()
        and set(np.argsort(-losses)[:3]) != set(order[:3])
        and list(order[:3]) != sorted(order[:3])
    )
