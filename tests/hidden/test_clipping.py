"""Exercise 5: what clipping, training and plotting must still be where nobody shows it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from grader.checks import CheckFailed, agrees, array, close, fail, require, tree
from grader.plugin import item
from grader.student import Student, StudentFault
from grader.values import key, make
from grader.wire import Record
from tests import oracles
from tests.mistakes import clipping as mistakes
from tests.visible.test_clipping import (
    RTOL,
    Curves,
    answers,
    both_curves,
    check_change,
    compare_updates,
    drawn,
    gradients_of_norms,
    legend_texts,
    one_image,
    parts,
    random_norms,
    require_legend,
    require_level,
    says,
    series,
)

Tree = Any


# Optimizers


@item(
    "Gradients of any pytree are clipped, inside jit and outside",
    points=1,
    hint="jax.tree.leaves gives the leaves of any structure. Inside jit a norm is traced: it cannot"
    " decide an if of Python's.",
)
def test_any_pytree_inside_jit_and_outside(student, rng):
    clip_norm, learning_rate = rng.uniform(0.05, 0.06), rng.uniform(2.0, 3.0)
    # Compiled, so many steps that a schedule of any kind, of rate or clip_norm, shows.
    for jitted, repeats in ((True, 30), (False, 1)):
        gradients = gradients_of_norms(rng, [0.9, 0.02, 0.4, 0.03] * repeats)
        nested = [
            [g["layer2"]["w"], ({"only": g["layer1"]["w"]}, g["layer1"]["b"]), (g["layer2"]["b"],)]
            for g in gradients
        ]
        _, [found] = answers(student, (clip_norm, learning_rate), {}, nested, jitted=jitted)
        compare_updates([_as_layers(one) for one in found], gradients, clip_norm, learning_rate)


def _as_layers(update: Any) -> Tree:
    match update:
        case [w2, ({"only": w1}, b1), (b2,)]:
            return {"layer1": {"w": w1, "b": b1}, "layer2": {"w": w2, "b": b2}}
    fail("The update does not have the structure of the gradient.")


@item(
    "Zero, tiny and huge gradients give finite updates of the right size",
    points=0.5,
    hint="What does your formula give for a gradient of zeros? And is there really no bound at"
    " all where clip_norm is None?",
)
def test_zero_tiny_and_huge_gradients(student, rng):
    zero = oracles.tree_map(np.zeros_like, gradients_of_norms(rng, [1.0])[0])
    after_zero = [zero, *gradients_of_norms(rng, [0.5, 0.3])]
    tiny = gradients_of_norms(rng, [1e-6, 3e-7, 4e-7])
    _, found = answers(student, (0.8, 0.05), {}, after_zero, tiny)
    compare_updates(found[0], after_zero, 0.8, 0.05)
    compare_updates(found[1], tiny, 0.8, 0.05)
    huge = gradients_of_norms(rng, [3e7, 2e3, 5e6])
    _, [unbounded] = answers(student, (None, 0.05), {}, huge)
    compare_updates(unbounded, huge, None, 0.05)


@item(
    "An optimizer keeps what it remembers in its state, so it can serve two runs in turns",
    points=0.5,
    hint="Everything that changes from step to step belongs in the state that init returns and"
    " update hands on.",
)
def test_two_runs_in_turns(student, rng):
    first = gradients_of_norms(rng, [3.0, 0.3, 1.2, 0.5])
    second = gradients_of_norms(rng, [0.2, 5.0, 0.6, 2.0])
    _, found = answers(student, (50.0, 0.1), {}, first, second)
    for updates, gradients in zip(found, (first, second), strict=True):
        compare_updates(updates, gradients, 50.0, 0.1)


# Training


class Recording(NamedTuple):
    """What an optimizer that changes nothing noted down during a run on private images."""

    losses: np.ndarray
    norms: np.ndarray
    weights: np.ndarray
    """(steps, images): each image's share in each step's gradient, training split first."""
    strays: np.ndarray
    """(steps,): how much of the gradient comes from no image with its own label."""
    loss_calls: int
    update_calls: int
    params: Tree
    x: np.ndarray
    y: np.ndarray


_RECORDINGS: WeakKeyDictionary[Student, Recording | StudentFault | CheckFailed] = (
    WeakKeyDictionary()
)
# Enough draws that each image comes up, see test_every_example_takes_part; and a rest of three
# images, whose shares in a smaller batch are no multiples of a quarter.
N_STEPS, N_TRAIN, BATCH_SIZE = 64, 11, 4


def recording(student: Student, rng: np.random.Generator) -> Recording:
    """The recording that several items look at, made by whichever of them comes first."""
    if student not in _RECORDINGS:
        try:
            _RECORDINGS[student] = _record(student, rng)
        except (StudentFault, CheckFailed) as fault:
            _RECORDINGS[student] = fault
    found = _RECORDINGS[student]
    if isinstance(found, Exception):
        raise found.with_traceback(None)
    return found


def _record(student: Student, rng: np.random.Generator) -> Recording:
    params = oracles.random_params(rng, (784, 12, 11, 10))
    x, y = oracles.private_images(rng, params, N_TRAIN + 3)
    own = oracles.private_gradients(params, x, y)
    data = make("data", x[:N_TRAIN], y[:N_TRAIN], x[N_TRAIN:], y[N_TRAIN:])
    value = student.run("clipping.record", key(rng), params, data, len(x), N_STEPS, BATCH_SIZE)
    recorded = ("result", "gradients", "loss_calls", "update_calls")
    if not isinstance(value, Record) or value.fields != recorded:
        fail("The run could not be recorded.")
    result = parts(value.result)
    gradients = array(value.gradients, finite=False, what="the record")
    require(gradients.ndim > 0, "The run could not be recorded.")
    counts = [n if type(n) is int else 0 for n in (value.loss_calls, value.update_calls)]
    # One update too many is another item's matter.
    gradients = gradients[:N_STEPS]
    require(
        gradients.shape == (N_STEPS, *own.shape),
        f"The optimizer was asked for {len(gradients)} updates in a run of {N_STEPS} steps.",
    )
    gradients = gradients.astype(np.float64)  # only now that its size is known
    weights = (gradients * own).sum(axis=2) / (own**2).sum(axis=1)
    strays = np.abs(gradients - weights[:, :, None] * own).max(axis=(1, 2)) / np.abs(own).max()
    return Recording(
        series(result.losses, N_STEPS, "run.losses"),
        series(result.grad_norms, N_STEPS, "run.grad_norms"),
        weights,
        strays,
        *counts,
        params,
        x,
        y,
    )


def require_batches(run: Recording) -> None:
    """Fails unless every gradient is that of `batch_size` training examples with their labels."""
    for step, (weights, stray) in enumerate(zip(run.weights, run.strays, strict=True), start=1):
        require(
            np.isfinite(weights).all() and stray < 1e-3,
            f"The gradient of step {step} is not that of loss_fn on training examples with their"
            " own labels. Do images and labels stay together, and is nothing added to the loss?",
        )
        tested = np.abs(weights[N_TRAIN:]).max()
        require(
            tested < 1e-4,
            f"The batch of step {step} holds examples of the test split.",
        )
        total = weights.sum()
        require(
            abs(total - 1) < 1e-3,
            f"The gradient that the optimizer is given at step {step} is {total:.3g} times that of"
            " the mean loss. It should get the raw one.",
        )
        counts = weights * BATCH_SIZE
        if np.abs(counts - np.rint(counts)).max() > 0.02:
            size = _batch_size(weights)
            held = f"{size} examples" if size else "another number of examples"
            fail(f"The batch of step {step} has {held}; batch_size asks for {BATCH_SIZE}.")


def _batch_size(weights: np.ndarray) -> int | None:
    """How many examples of equal share make up the weights; the smallest such number."""
    for size in range(1, 400):
        counts = weights * size
        if np.abs(counts - np.rint(counts)).max() < 0.02:
            return size
    return None


@item(
    "Every batch holds exactly batch_size examples of the training split, with their own labels",
    points=1,
    hint="With 11 examples and batches of 4, what does your function do at the end of an epoch?",
    seconds=60,
)
def test_batches_are_whole_and_from_the_training_split(student, rng):
    """A right function that draws with replacement draws each example an even number of times in
    all 64 batches with a probability far below 1e-9."""
    run = recording(student, rng)
    require_batches(run)
    counts = np.rint(run.weights * BATCH_SIZE).astype(int)
    require(
        np.gcd.reduce(counts.ravel()) == 1,
        f"The batches seem to hold {BATCH_SIZE // 2} examples or fewer; batch_size asks for"
        f" {BATCH_SIZE}.",
    )


@item(
    "Batches are random, and a new epoch has a new order",
    points=1,
    hint="Print the indices of the batches of two epochs. Does every shuffle get a fresh key?",
    seconds=60,
)
def test_every_epoch_has_a_new_order(student, rng):
    """Two random batches of 4 out of 11 are equal with a probability of 1/330, both batches of two
    epochs with one of 1/11550. So 14 equal pairs at one distance have a probability below 1e-12,
    and that all 64 batches hold neighbours in the data has one below 1e-50."""
    run = recording(student, rng)
    batches = [tuple(np.round(weights, 2)) for weights in run.weights]
    require(len(set(batches)) > 1, "Every step took the same batch.")
    rows = [np.flatnonzero(weights[:N_TRAIN] > 0.01) for weights in run.weights]
    neighbours = [_are_neighbours(held, N_TRAIN) for held in rows if len(held) < N_TRAIN]
    require(
        not neighbours or not all(neighbours),
        "Every batch holds examples that stand side by side in the data, so it is no random batch.",
    )
    # Two or three different batches, in an order that changes, meet again and again by chance.
    allowed = 13 if len(set(batches)) > 3 else 40
    for lag in range(1, len(batches) // 2 + 1):
        equal = sum(one == other for one, other in zip(batches, batches[lag:], strict=False))
        require(
            equal <= min(allowed, len(batches) - lag - 1),
            f"The batches repeat: {equal} of them come again in the same order, {lag} steps later.",
        )


def _are_neighbours(rows: np.ndarray, n_rows: int) -> bool:
    """Whether the rows are consecutive, the first following the last."""
    gaps = np.diff(np.append(rows, rows[:1] + n_rows))
    return bool((gaps > 1).sum() <= 1)


@item(
    "Every training example takes part",
    points=0.5,
    hint="Which example can your indices never reach: the last one, or those after the last whole"
    " batch?",
    seconds=60,
)
def test_every_example_takes_part(student, rng):
    """64 random batches of 4 leave out one of 11 examples with a probability of at most
    11 * (10/11)**256 < 3e-10, with replacement; less without."""
    run = recording(student, rng)
    drawn_ever = (np.abs(run.weights[:, :N_TRAIN]) > 0.01).any(axis=0)
    missing = int((~drawn_ever).sum())
    require(
        missing == 0,
        f"{missing} of {N_TRAIN} training examples were in no batch of {N_STEPS}.",
    )


@item(
    "The step is compiled once, not at every step or epoch",
    points=0.5,
    hint="Put print('tracing') in your step: how often does it run? A function that jit is to"
    " recognise must be made once, and what changes must be an argument.",
    seconds=60,
)
def test_the_step_is_compiled_once(student, rng):
    """64 steps are at least 21 epochs, so that even a compilation an epoch is seen."""
    run = recording(student, rng)
    calls = run.loss_calls or run.update_calls
    require(
        calls <= 6,
        f"In {N_STEPS} steps Python ran the body of the step {calls} times: it is compiled again"
        " and again, or not at all. Compiled once, it is traced once.",
    )


@item(
    "Loss and norm belong to the very batch that the step takes",
    points=1,
    hint="One call of jax.value_and_grad on one batch gives both, and the update too.",
    seconds=60,
)
def test_loss_and_norm_are_of_one_batch(student, rng):
    run = recording(student, rng)
    require(
        np.isfinite(run.weights).all()
        and (run.strays < 1e-3).all()
        and (run.weights.max(axis=1) > 1e-3).all(),  # no gradient at all agrees with any loss
        "The gradients that the optimizer is given are not those of loss_fn on examples of the"
        " data with their own labels.",
    )
    each = oracles.per_example_gradients(run.params, run.x, run.y)
    every_loss = oracles.cross_entropy(oracles.forward(run.params, run.x), run.y)
    close(
        run.losses,
        run.weights @ every_loss,
        rtol=RTOL,
        atol=RTOL,
        what="run.losses, on batches of different examples,",
    )
    close(
        run.norms,
        mistakes.batch_norms(run.weights, each),
        rtol=RTOL,
        atol=RTOL,
        what="run.grad_norms, on batches of different examples,",
        mistakes=mistakes.in_batch_norms(run.weights, each, every_loss, 1.0),
    )


class Tethered(NamedTuple):
    """A run with an optimizer that needs the parameters and has a state to carry."""

    params: Any
    changed: tuple[str, ...]
    start: Tree
    want: Tree
    reset: Tree
    """The change where the state starts anew at every step."""


_TETHERED: WeakKeyDictionary[Student, Tethered | StudentFault | CheckFailed] = WeakKeyDictionary()


def tethered_run(student: Student, rng: np.random.Generator) -> Tethered:
    """The run that two items look at, made by whichever of them comes first."""
    if student not in _TETHERED:
        try:
            _TETHERED[student] = _tethered_run(student, rng)
        except (StudentFault, CheckFailed) as fault:
            _TETHERED[student] = fault
    found = _TETHERED[student]
    if isinstance(found, Exception):
        raise found.with_traceback(None)
    return found


def _tethered_run(student: Student, rng: np.random.Generator) -> Tethered:
    rate, decay, tether, n_steps = 0.004, 0.5, 4.0, 5
    first: list[Tree] = []

    def update(step: int, gradient: Tree, params: Tree) -> Tree:
        if step == 1:
            first[:] = [params]
        return oracles.tree_map(
            lambda g, p, p0: -step * rate * (g + decay * p + tether * (p - p0)),
            gradient,
            params,
            first[0],
        )

    def forgetful(step: int, gradient: Tree, params: Tree) -> Tree:
        return oracles.tree_map(lambda g, p: -rate * (g + decay * p), gradient, params)

    params, data, want = one_image(rng, n_steps, update)
    reset = oracles.descend(params, data[0][:1], data[1][:1], n_steps, forgetful)
    optimizer = make("clipping.tethered", rate, decay, tether)
    value = student.train_with_norms(
        key(rng), params, optimizer, make("data", *data), n_steps=n_steps, batch_size=7
    )
    return Tethered(
        parts(value).params,
        student.changed,
        params,
        mistakes.changes(want, n_steps),
        mistakes.changes(reset, n_steps),
    )


@item(
    "Any optimizer works: its state is carried from step to step, and it sees the parameters",
    points=1,
    hint="optimizer.init is called once, with the given parameters; every update returns the state"
    " for the next, and takes the parameters too.",
)
def test_any_optimizer_works(student, rng):
    run = tethered_run(student, rng)
    forgotten = mistakes.Mistake(
        "state-forgotten",
        "the optimizer's state starts anew at every step. update returns the state for the next.",
        run.reset,
    )
    check_change(run.params, run.start, run.want, [forgotten])
    # Of the same kind and for the same shapes, so that nothing need be compiled anew, but at rest.
    params = oracles.random_params(rng, (784, 12, 11, 10))
    x = rng.uniform(size=(7, 784)).astype(np.float32)
    y = rng.integers(10, size=7).astype(np.int32)
    resting = make("clipping.tethered", 0.0, 0.5, 4.0)
    value = student.train_with_norms(
        key(rng), params, resting, make("data", x, y, x, y), n_steps=5, batch_size=7
    )
    got = tree(parts(value).params, params, what="the returned params")
    require(
        agrees(got, params, rtol=0.0, atol=1e-7),
        "A second run, with an optimizer whose updates are all zero, changed the parameters. Was"
        " it another optimizer's update?",
    )


@item(
    "Nothing that the caller passed is changed, deleted or donated",
    points=0.5,
    hint="Use params again after the call. What does donate_argnums do to an argument?",
)
def test_nothing_passed_is_changed(student, rng):
    run = tethered_run(student, rng)
    names = {"0": "key", "1": "params", "2": "optimizer", "3": "data"}
    changed = ", ".join(names.get(name, name) for name in run.changed)
    require(not run.changed, f"The call changed, deleted or donated what it was given: {changed}.")


@item(
    "n_steps=0 gives the given parameters back, with nothing recorded",
    points=0.5,
    hint="What shape has an array of no losses? Some functions refuse an empty list.",
)
def test_no_steps_at_all(student, rng):
    params = oracles.random_params(rng, (784, 12, 11, 10))
    x = rng.uniform(size=(6, 784)).astype(np.float32)
    y = rng.integers(10, size=6).astype(np.int32)
    value = student.train_with_norms(
        key(rng), params, make("clipping.plain_sgd", 0.1), make("data", x, y, x, y), 0, 4
    )
    found = parts(value)
    got = tree(found.params, params, what="the returned params")
    close(got, params, rtol=0.0, atol=1e-7, what="After no steps, the returned params")
    for name in ("losses", "grad_norms"):
        series(getattr(found, name), 0, f"After no steps, run.{name}")


@item(
    "By default a run has 200 steps with batches of 128",
    points=0.5,
    hint="The defaults are in the signature of the exercise.",
)
def test_the_default_sizes(student, rng):
    """There are two kinds of images, and the parameters stay as they are, so each loss tells what
    share of the batch is of the first kind: a multiple of 1/128. That a right function draws an
    even number of them 200 times has a probability below 1e-50, that 50 batches in a row hold as
    many of them as 50 others one below 1e-50 as well."""
    while True:
        params, x, y = oracles.draw_examples(rng, (784, 12, 11, 10), batch=2)
        first, second = oracles.cross_entropy(oracles.forward(params, x), y)
        if abs(first - second) > 1.0 and max(first, second) < 10.0:
            break
    kinds = rng.permutation(np.repeat([0, 1], 100))
    data = make("data", x[kinds], y[kinds], x, y)
    value = student.train_with_norms(key(rng), params, make("clipping.plain_sgd", 0.0), data)
    losses = series(parts(value).losses, 200, "By default, run.losses")
    counts = 128 * (losses - second) / (first - second)
    whole = np.rint(counts).astype(int)
    # Few different counts come of batches that repeat, which is another item's matter.
    halved = len(set(whole)) > 8 and np.gcd.reduce(whole) > 1
    require(
        np.abs(counts - whole).max() < 0.1 and np.all((whole >= 0) & (whole <= 128)) and not halved,
        "By default, the losses are not those of batches of 128 training examples.",
    )
    # An order that repeats sooner is another item's matter.
    lag = next((lag for lag in range(1, 151) if np.array_equal(whole[lag:], whole[:-lag])), 0)
    require(
        lag < 32, f"By default, the batches repeat: the same ones come again every {lag} steps."
    )


# The figure


@item(
    "Series of different lengths are drawn whole, whichever is the longer",
    points=0.5,
    hint="Each curve needs steps of its own: how long is each series?",
)
def test_series_of_any_lengths(student, rng):
    clip_norm = float(rng.uniform(3.0, 4.0))

    def curves(*sizes: int) -> Curves:
        series = [random_norms(rng, n_steps, clip_norm) for n_steps in sizes]
        series[1][rng.integers(sizes[1])] = 4e-5  # small norms are raw values too
        return both_curves(drawn(student, *series, clip_norm), series, clip_norm)

    first, second = curves(23, 41), curves(2037, 612)
    for old in (first.unclipped, first.clipped):
        require(
            not any(np.array_equal(old.y, line.y) for line in second.figure.lines),
            "The figure still shows a curve of the call before. Every call needs a new one.",
        )


@item(
    "The line follows clip_norm, by default 1.0, by position or by name",
    points=0.5,
    hint="Where does the height of your line come from?",
)
def test_the_line_follows_clip_norm(student, rng):
    clip_norm = float(rng.uniform(0.12, 0.17))
    unclipped, clipped = (random_norms(rng, 30, clip_norm) for _ in range(2))
    require_level(
        drawn(student, unclipped=unclipped, clipped=clipped, clip_norm=clip_norm), clip_norm
    )
    unclipped, clipped = (random_norms(rng, 30, 1.0) for _ in range(2))
    require_level(drawn(student, unclipped, clipped), 1.0)


@item(
    "What labels say of clipping, norms and steps is on the right thing",
    points=0.5,
    hint="Read your labels aloud: what runs along x, what along y, and which curve is which?",
)
def test_labels_are_on_the_right_things(student, rng):
    series = [random_norms(rng, n_steps, 2.0) for n_steps in (25, 31)]
    figure = drawn(student, *series, 2.0)
    curves = require_legend(figure, series, 2.0)
    if curves:
        require_true_names(curves)
    for part, right, wrong in (("x", "step", "norm"), ("y", "norm", "step")):
        for text in (figure.labels[part], *(axes[part] for axes in figure.axes)):
            require(
                _names(text, right) or not _names(text, wrong),
                f"The label of the {part} axis speaks of the {wrong}, which runs along the other.",
            )


def require_true_names(curves: Curves) -> None:
    """Fails where a label says clipped of the unclipped norms, or the other way round."""
    figure, unclipped, clipped = curves
    for line, other, name in (
        (unclipped, clipped, "unclipped"),
        (clipped, unclipped, "clipped"),
    ):
        for text in legend_texts(figure, line) - legend_texts(figure, other):
            require(
                says(text) in (None, name),
                f"In the legend, the curve of the {name} norms has a label that says otherwise.",
            )
    for part in ("title", "y"):
        spoken = [says(figure.axes[line.axes][part]) for line in (unclipped, clipped)]
        require(
            spoken != ["clipped", "unclipped"],
            "The two Axes say clipped over the unclipped norms, and the other way round.",
        )


def _names(text: str, word: str) -> bool:
    return re.search(rf"\b{word}s?\b", text, re.IGNORECASE) is not None
