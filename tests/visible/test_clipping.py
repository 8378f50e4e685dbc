"""Exercise 5: what the clipping optimizer, the recorded training run and the plot must be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from grader.checks import (
    CheckFailed,
    agrees,
    array,
    close,
    described,
    fail,
    record,
    reported,
    require,
    tree,
)
from grader.plugin import Exercise, item
from grader.student import Student, StudentFault
from grader.values import key, make
from grader.wire import Record
from tests import oracles
from tests.mistakes import clipping as mistakes

EXERCISE = Exercise(
    order=5,
    title="Clipping by the global norm",
    hints=(
        "An optimizer of Optax's is a value. optax.chain makes one out of several, and each link"
        " gets what the one before it returns.",
        "One step needs the loss and the gradient: jax.value_and_grad gives both at once. The raw"
        " norm can be taken right there, before the optimizer sees the gradient.",
        "A step that returns the new parameters, the new optimizer state, the loss and the norm"
        " can be compiled once with jax.jit and called in a loop, or be the body of jax.lax.scan."
        " For the plot, matplotlib.figure.Figure needs no pyplot at all.",
    ),
)

Tree = Any
RTOL = 1e-3
"""How far right float32 results may be from float64 ones."""


# Optimizers


def gradients_of_norms(rng: np.random.Generator, norms: Sequence[float]) -> list[Tree]:
    """Small gradients, each of its own direction and of the given global norm.

    Their leaves differ in length, so that clipping by anything but the global norm shows.
    """
    made = []
    for norm in norms:
        drawn = oracles.random_params(rng, (3, 4, 2))
        drawn = oracles.tree_map(lambda leaf: leaf * rng.uniform(0.3, 3.0), drawn)
        factor = norm / oracles.global_norm(drawn)
        made.append(oracles.tree_map(lambda leaf, f=factor: (leaf * f).astype(np.float32), drawn))
    return made


def answers(
    student: Student,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *sequences: list[Tree],
    jitted: bool = False,
) -> tuple[bool, list[list[Any]]]:
    """Whether `make_optimizer` gives an optimizer of Optax's, and its updates for each sequence."""
    value = student.run("clipping.updates", tuple(args), dict(kwargs), list(sequences), jitted)
    match value:
        case {"optax": bool(is_optax), "updates": [*found]} if (
            len(found) == len(sequences)
            and all(isinstance(one, list) for one in found)
            and all(len(one) == len(want) for one, want in zip(found, sequences, strict=True))
        ):
            return is_optax, found
    fail("make_optimizer gave nothing that could be used as an optimizer.")


def check_updates(
    student: Student,
    gradients: list[Tree],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    clip_norm: float | None,
    learning_rate: float,
) -> None:
    """Compares the updates of `make_optimizer(*args, **kwargs)` with those of clipping and Adam."""
    _, [found] = answers(student, args, kwargs, gradients)
    compare_updates(found, gradients, clip_norm, learning_rate)


def compare_updates(
    found: Sequence[Any], gradients: list[Tree], clip_norm: float | None, learning_rate: float
) -> None:
    """Compares updates with those of clipping and Adam; no bound where `clip_norm` is None."""
    updates = mistakes.numbered([tree(update, gradients[0], what="the update") for update in found])
    if clip_norm is None:
        want = mistakes.adam_updates(gradients, learning_rate)
    else:
        want = mistakes.clipped_updates(gradients, clip_norm, learning_rate)
    known = mistakes.in_updates(gradients, clip_norm or 1.0, learning_rate)
    close(
        updates,
        want,
        rtol=RTOL,
        atol=RTOL * learning_rate,
        what="The sequence of updates",
        mistakes=[one for one in known if clip_norm is not None or one.id != "not-clipped"],
    )


@item(
    "A gradient longer than clip_norm is scaled down as a whole, before Adam",
    points=1,
    hint="Adam hides the length of its very first gradient. Try two gradients, a long one and then"
    " a short one, and compare with clipping by hand.",
)
def test_long_gradients_are_scaled_as_a_whole(student, rng):
    gradients = gradients_of_norms(rng, [6.0, 0.7, 9.0, 1.5, 0.4, 4.0])
    clip_norm, learning_rate = rng.uniform(1.1, 1.3), rng.uniform(0.6, 0.9)
    check_updates(student, gradients, (clip_norm, learning_rate), {}, clip_norm, learning_rate)


@item(
    "Gradients shorter than clip_norm go to Adam as they are",
    points=0.5,
    hint="What should clipping do to a gradient that is short enough already?",
)
def test_short_gradients_are_left_alone(student, rng):
    gradients = gradients_of_norms(rng, [0.9, 0.1, 2.4, 0.5])
    check_updates(student, gradients, (2.5, 0.03), {}, 2.5, 0.03)


@item(
    "clip_norm=None gives Adam alone",
    points=0.5,
    hint="None means that there is no bound. Which link of the chain is not needed then?",
)
def test_none_means_adam_alone(student, rng):
    gradients = gradients_of_norms(rng, [20.0, 0.5, 300.0, 2.0])
    check_updates(student, gradients, (None,), {}, None, 1e-3)


@item(
    "Both arguments are used, by position or by name, and have the defaults of the exercise",
    points=0.5,
    hint="Call make_optimizer() and make_optimizer(clip_norm=0.3, learning_rate=0.1), and look at"
    " how large their updates are.",
)
def test_the_arguments_are_used(student, rng):
    gradients = gradients_of_norms(rng, [5.0, 0.2, 2.0, 0.8])
    check_updates(student, gradients, (), {}, 1.0, 1e-3)
    named = {"clip_norm": 0.3, "learning_rate": 0.1}
    check_updates(student, gradients, (), named, 0.3, 0.1)
    check_updates(student, gradients, (), {"learning_rate": 0.02}, 1.0, 0.02)
    longer = gradients_of_norms(rng, [300.0, 15.0, 90.0, 40.0])
    check_updates(student, longer, (35, 0.02), {}, 35.0, 0.02)  # an int


@item(
    "make_optimizer returns an optax.GradientTransformation",
    points=0.5,
    hint="Print type(make_optimizer()). What does optax.chain return?",
)
def test_it_is_an_optax_optimizer(student, rng):
    gradients = gradients_of_norms(rng, [1.0])
    for clip_norm in (1.0, None):
        is_optax, _ = answers(student, (clip_norm,), {}, gradients)
        require(
            is_optax,
            f"make_optimizer({clip_norm}) is not an optax.GradientTransformation. Anything that is"
            " to be used as an optimizer of Optax's should be one.",
        )


# Training


class TrainingRun(NamedTuple):
    """A run on a training split that holds one image again and again, and what it should give."""

    value: Any
    want: oracles.Descent
    clip_norm: float
    learning_rate: float


N_STEPS, BATCH_SIZE = 6, 4
_RUNS: WeakKeyDictionary[Student, TrainingRun | StudentFault] = WeakKeyDictionary()


def training_run(student: Student, rng: np.random.Generator) -> TrainingRun:
    """The run that several items look at, made by whichever of them comes first.

    All batches of it are the same, and its optimizer clips, so NumPy knows every number of it. The
    test split holds NaN.
    """
    if student not in _RUNS:
        # Not drawn: a compiled step holds them, and one that is in the cache need not be compiled.
        clip_norm, learning_rate = 0.43, 0.47

        def update(step: int, gradient: Tree, params: Tree) -> Tree:
            clipped = oracles.clip_by_global_norm(gradient, clip_norm)
            return oracles.tree_map(lambda leaf: -learning_rate * leaf, clipped)

        params, data, want = one_image(rng, N_STEPS, update, norms_above=1.4 * clip_norm)
        optimizer = make("clipping.plain_sgd", learning_rate, clip_norm)
        try:
            value = student.train_with_norms(
                key(rng), params, optimizer, make("data", *data), N_STEPS, BATCH_SIZE
            )
            _RUNS[student] = TrainingRun(value, want, clip_norm, learning_rate)
        except StudentFault as fault:
            _RUNS[student] = fault
    found = _RUNS[student]
    if isinstance(found, StudentFault):
        raise found.with_traceback(None)
    return found


def one_image(
    rng: np.random.Generator, n_steps: int, update: Any, norms_above: float = 0.0
) -> tuple[Tree, tuple[np.ndarray, ...], oracles.Descent]:
    """Parameters, a training split of one image repeated, and the descent on it.

    Drawn so that no ReLU is near its kink and the loss and the norm change clearly at every step.
    """
    while True:
        params = oracles.random_params(rng, (784, 12, 11, 10))
        x = rng.uniform(size=(1, 784)).astype(np.float32)
        y = rng.integers(10, size=1).astype(np.int32)
        want = oracles.descend(params, x, y, n_steps, update)
        norms = np.array([oracles.global_norm(gradient) for gradient in want.gradients])
        moved = (np.abs(np.diff(series)) / series[:-1] for series in (want.losses, norms))
        if (
            min(oracles.clearance(now, x) for now in want.params) > 1e-3
            and norms.min() > norms_above
            and all(share.min() > 5 * RTOL for share in moved)
        ):
            data = (
                np.repeat(x, 7, axis=0),
                np.repeat(y, 7),
                np.full((2, 784), np.nan, np.float32),
                np.zeros(2, np.int32),
            )
            return params, data, want


class Parts(NamedTuple):
    """What a run returned, its form taken generously: one item alone is about that."""

    params: Any
    losses: Any
    grad_norms: Any


def parts(value: Any) -> Parts:
    """The three parts of a run, or of another tuple of three."""
    fields = value.fields if isinstance(value, Record) else ()
    if set(fields) == set(Parts._fields):
        found = [getattr(value, name) for name in Parts._fields]
    elif isinstance(value, Record | tuple) and len(getattr(value, "values", value)) == 3:
        found = list(getattr(value, "values", value))
    else:
        fail(f"train_with_norms should return a Run, but the result is {described(value)}.")
    return Parts(*found)


def series(value: Any, n_steps: int, what: str) -> np.ndarray:
    """One number a step; a list of them will do."""
    if isinstance(value, list | tuple) and len(value) == n_steps:
        numbers = [np.asarray(one).reshape(-1) for one in value if isinstance(one, NUMBERS)]
        if len(numbers) == n_steps and all(n.size == 1 and n.dtype.kind != "c" for n in numbers):
            value = np.array([float(one[0]) for one in numbers])
    found = array(value, finite=False, what=what)
    require(
        found.size == n_steps and found.dtype.kind in "fV",
        f"{what} should hold a floating-point number for each of {n_steps} steps, but it has shape"
        f" {found.shape} and dtype {found.dtype.name}.",
    )
    return found.astype(np.float64).reshape(-1)


NUMBERS = (int, float, np.ndarray)


def require_numbers(values: np.ndarray, what: str) -> None:
    """Fails for NaN in a run whose test split holds nothing else."""
    require(
        np.isfinite(values).all(),
        f"{what} holds NaN. The training split of this run is sound, but the test split is all NaN:"
        " is it trained on?",
    )


def check_change(
    got: Any, start: Tree, want: Tree, known: Sequence[Any], what: str = "The change of params"
) -> None:
    """Compares by how much training moved the parameters away from `start`."""
    got = tree(got, start, what="the returned params")
    moved = oracles.tree_map(lambda now, then: now.astype(np.float64) - then, got, start)
    largest = max(float(np.abs(leaf).max()) for leaf in oracles.tree_leaves(want))
    close(moved, want, rtol=0.0, atol=2 * RTOL * largest, what=what, mistakes=known)


@item(
    "train_with_norms returns a Run with one loss and one norm for every step",
    points=0.5,
    hint="Print type(run), and the type, shape and dtype of run.losses and run.grad_norms.",
)
def test_the_run_has_an_entry_for_each_step(student, rng):
    run = training_run(student, rng)
    found = record(run.value, "Run", ("params", "losses", "grad_norms"))
    like = oracles.tree_map(np.float32, run.want.params[0])
    tree(found.params, like, what="run.params", finite=False)
    for name in ("losses", "grad_norms"):
        values = array(getattr(found, name), shape=(N_STEPS,), finite=False, what=f"run.{name}")
        require(
            values.dtype.kind in "fV",
            f"run.{name} should hold floating-point numbers, but its dtype is {values.dtype.name}.",
        )


@item(
    "Each loss is that of the step's batch before its update",
    points=1,
    hint="The first loss belongs to the parameters that the function was given. Compare it with"
    " loss_fn(params, x, y).",
)
def test_losses_are_before_the_update(student, rng):
    run = training_run(student, rng)
    losses = series(parts(run.value).losses, N_STEPS, "run.losses")
    require_numbers(losses, "run.losses")
    known = mistakes.in_losses(run.want, BATCH_SIZE)
    close(losses, run.want.losses[:-1], rtol=RTOL, atol=RTOL, what="run.losses", mistakes=known)


@item(
    "Each norm is that of the raw gradient, over all leaves, before any clipping",
    points=1,
    hint="Train with an optimizer that clips at 0.1. The recorded norms should not notice.",
)
def test_norms_are_of_the_raw_gradient(student, rng):
    run = training_run(student, rng)
    norms = series(parts(run.value).grad_norms, N_STEPS, "run.grad_norms")
    require_numbers(norms, "run.grad_norms")
    want = np.array([oracles.global_norm(gradient) for gradient in run.want.gradients[:-1]])
    known = mistakes.in_norms(run.want, run.clip_norm, run.learning_rate, BATCH_SIZE)
    close(norms, want, rtol=RTOL, atol=RTOL, what="run.grad_norms", mistakes=known)


@item(
    "The given optimizer trains the given parameters, up to the last update",
    points=1,
    hint="With optax.sgd(0.1) and one step you can work out the new parameters by hand.",
)
def test_the_given_optimizer_trains_the_given_params(student, rng):
    run = training_run(student, rng)
    start = oracles.tree_map(np.float32, run.want.params[0])
    known = mistakes.in_changes(run.want, run.want.gradients[:-1])
    want = mistakes.changes(run.want, N_STEPS)
    check_change(parts(run.value).params, start, want, known)


@item(
    "The key decides the batches: the same key gives the same run, another key another run",
    points=1,
    hint="Call the function twice with PRNGKey(0) and once with jax.random.key(1), and compare the"
    " losses. Where does the randomness come from?",
)
def test_the_key_decides_the_batches(student, rng):
    """Two random batches of 16 out of 40 are equal with a probability below 2e-11. Loss and norm of
    two different ones both agree to 3e-7 with one of about 4e-11, as each spreads over a tenth."""
    params = oracles.random_params(rng, (784, 12, 11, 10))
    x = rng.uniform(size=(40, 784)).astype(np.float32)
    y = rng.integers(10, size=40).astype(np.int32)

    def trained(own_key: Any) -> tuple[np.ndarray, np.ndarray]:
        data = make("data", x, y, x[:2], y[:2])
        value = student.train_with_norms(
            own_key, params, make("clipping.plain_sgd", 0.01), data, n_steps=5, batch_size=16
        )
        found = parts(value)
        return (
            series(found.losses, 5, "run.losses"),
            series(found.grad_norms, 5, "run.grad_norms"),
        )

    seed = int(rng.integers(2**30))
    first, second = trained(key(seed)), trained(key(seed))
    for one, other in zip(first, second, strict=True):
        require(
            agrees(one, other, rtol=1e-4, atol=1e-5),
            "Two calls with the same key gave different runs. Something besides the key decides.",
        )
    losses, norms = trained(key(seed + 1, typed=True))
    require(
        not agrees(losses[0], first[0][0], rtol=3e-7, atol=0.0)
        or not agrees(norms[0], first[1][0], rtol=3e-7, atol=0.0),
        "With another key the first step has the very same loss and norm. The key should decide"
        " which examples are in which batch, from the first one on.",
    )


# The figure


class Line(NamedTuple):
    """A line of a figure, in the coordinates of the data."""

    axes: int
    x: np.ndarray
    y: np.ndarray
    label: str
    style: Mapping[str, str]
    visible: bool


class Drawn(NamedTuple):
    """What a figure shows."""

    axes: list[Mapping[str, Any]]
    labels: Mapping[str, str]
    """Labels of the whole figure's."""
    lines: list[Line]
    legends: list[Mapping[str, Any]]


def drawn(student: Student, *args: Any, **kwargs: Any) -> Drawn:
    """The figure that `plot_grad_norms` makes."""
    report = student.run("clipping.figure", *args, **kwargs)
    require_figure(report)
    parts = {name: report.get(name) for name in Drawn._fields}
    reported(parts, {"axes": list, "labels": {"x": str, "y": str}, "lines": list, "legends": list})
    for axes in _few(parts["axes"]):
        reported(axes, _AXES)
    for legend in _few(parts["legends"]):
        reported(legend, {"axes": object, "entries": list})
        require(type(legend["axes"]) in (int, type(None)), UNREADABLE)
        for entry in _few(legend["entries"]):
            reported(entry, {"text": str, "style": _STYLE})
        legend["entries"] = [(entry["text"], entry["style"]) for entry in legend["entries"]]
    lines = [_line(line, len(parts["axes"])) for line in _few(parts["lines"])]
    return Drawn(parts["axes"], parts["labels"], lines, parts["legends"])


UNREADABLE = "The figure could not be read."
_STYLE = {"colour": str, "line": str, "marker": str}
_AXES = {
    **{"title": str, "x": str, "y": str},
    **{"xlim": [float] * 2, "ylim": [float] * 2, "position": [float] * 4},
}


def _few(found: list[Any]) -> list[Any]:
    """Parts of a figure, if they are no more than can be looked through in pairs."""
    require(len(found) <= 300, "The figure has more lines or legends than can be looked at.")
    return found


def _line(line: Any, n_axes: int) -> Line:
    kinds = {"axes": int, "x": np.ndarray, "y": np.ndarray}
    reported(line, {**kinds, "label": str, "style": _STYLE, "visible": bool})
    x, y = line["x"], line["y"]
    require(0 <= line["axes"] < n_axes, UNREADABLE)
    require(x.shape == y.shape == (x.size,) and x.size <= 100_000, UNREADABLE)
    require({x.dtype.kind, y.dtype.kind} <= set("iuf"), UNREADABLE)
    return Line(**{**line, "x": x.astype(np.float64), "y": y.astype(np.float64)})


def require_figure(report: Any) -> None:
    """Fails unless the worker was given a figure."""
    if not isinstance(report, dict) or report.get("is_figure") is not True:
        kind = report.get("type") if isinstance(report, dict) else None
        kind = kind[:60] if isinstance(kind, str) else "something else"
        fail(
            f"plot_grad_norms should return a matplotlib.figure.Figure, but it returned {kind}."
            + (" Is there a return?" if kind == "NoneType" else "")
        )


def random_norms(rng: np.random.Generator, n_steps: int, clip_norm: float) -> np.ndarray:
    """Norms of a run, some above and some below clip_norm."""
    values = clip_norm * np.exp(rng.normal(scale=0.8, size=n_steps))
    values[rng.permutation(n_steps)[:2]] = clip_norm * np.array([0.4, 2.5])
    return values.astype(np.float32)


def curve(
    figure: Drawn, values: np.ndarray, other: np.ndarray, clip_norm: float, name: str
) -> Line:
    """The line that shows `values` over the steps.

    Raises:
      CheckFailed: there is none; the message says what is there instead.
    """
    require(
        1 <= len(figure.axes) <= 2, f"The figure has {len(figure.axes)} Axes; one or two are asked."
    )
    seen = [line for line in figure.lines if line.visible]
    showing = [line for line in seen if _shows(line, values)]
    require(seen, "The figure has no visible curves.")
    if not showing:
        known = mistakes.in_curves(values, other, clip_norm)
        for line in seen:
            found = {one.id: one for one in known if _agree(line.y, one.outcome())}
            if len(found) == 1:
                [mistake] = found.values()
                fail(f"The curve of the {name} norms is not right: {mistake.sentence}", mistake.id)
        lengths = ", ".join(str(len(line.y)) for line in seen[:6])
        fail(
            f"No curve shows the {name} norms as they are, all {len(values)} of them. The figure's"
            f" visible lines (dots and bars are none) have {lengths} points."
        )
    over_steps = [line for line in showing if _over_steps(line)]
    require(
        over_steps,
        f"The curve of the {name} norms is not drawn over the steps: its x runs from"
        f" {showing[0].x.min():g} to {showing[0].x.max():g} for {len(values)} steps."
        if len(showing[0].x)
        else "",
    )
    inside = [line for line in over_steps if _in_view(line, figure.axes[line.axes])]
    require(
        inside,
        f"The curve of the {name} norms runs out of the Axes: look at its limits.",
    )
    return inside[0]


def _agree(first: np.ndarray, second: np.ndarray) -> bool:
    return first.shape == np.shape(second) and np.allclose(first, second, rtol=1e-6, atol=1e-6)


def _shows(line: Line, values: np.ndarray) -> bool:
    return line.y.shape == values.shape and np.allclose(line.y, values, rtol=2e-6, atol=0.0)


def _over_steps(line: Line) -> bool:
    """Whether x counts the steps, from 0 or from 1."""
    steps = np.arange(len(line.x))
    return any(np.allclose(line.x, steps + first, rtol=0, atol=1e-3) for first in (0, 0.5, 1))


def _in_view(line: Line, axes: Mapping[str, Any]) -> bool:
    def inside(values: np.ndarray, limits: tuple[float, ...]) -> bool:
        low, high = limits
        slack = 1e-3 * (high - low)
        return low - slack <= values.min() and values.max() <= high + slack

    # A logarithmic axis has no place for step 0.
    x = line.x[line.x > 0] if axes["xlim"][0] > 0 else line.x
    return inside(x, axes["xlim"]) and inside(line.y, axes["ylim"])


def require_level(figure: Drawn, clip_norm: float) -> None:
    """Fails unless a visible horizontal line lies at `clip_norm`."""
    levels = [
        line
        for line in figure.lines
        if line.visible and len(line.y) > 1 and np.ptp(line.y) == 0 and np.ptp(line.x) > 0
    ]
    if any(abs(line.y[0] - clip_norm) <= 1e-5 * clip_norm for line in levels):
        inside = [
            line
            for line in levels
            if figure.axes[line.axes]["ylim"][0] <= line.y[0] <= figure.axes[line.axes]["ylim"][1]
        ]
        require(inside, "The horizontal line lies outside of what the Axes show.")
        return
    if not levels:
        fail("There is no horizontal line in the figure. It should mark clip_norm.")
    heights = ", ".join(f"{line.y[0]:.4g}" for line in levels[:4])
    fail(f"The horizontal line lies at {heights}. It should lie at clip_norm, here {clip_norm:g}.")


class Curves(NamedTuple):
    """The curves of both series, and the figure they are in."""

    figure: Drawn
    unclipped: Line
    clipped: Line


def both_curves(figure: Drawn, series: Sequence[np.ndarray], clip_norm: float) -> Curves:
    """The curves of both series, which were drawn as `figure`."""
    unclipped, clipped = series
    return Curves(
        figure,
        curve(figure, unclipped, clipped, clip_norm, "unclipped"),
        curve(figure, clipped, unclipped, clip_norm, "clipped"),
    )


def legend_texts(figure: Drawn, line: Line) -> set[str]:
    """The legend entries that stand for `line`, by their handle and, where that fits several lines,
    by the line's own label and the legend's Axes."""
    texts = set()
    for legend in figure.legends:
        for text, style in legend["entries"]:
            meant = [other for other in figure.lines if _same_style(other.style, style)]
            meant = [other for other in meant if other.label == text] or meant
            meant = [other for other in meant if other.axes == legend["axes"]] or meant
            if text and any(other is line for other in meant):
                texts.add(text)
    return texts


def _same_style(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    return all(
        first[name] == second[name] or "any" in (first[name], second[name])
        for name in ("colour", "line", "marker")
    )


UNCLIPPED = re.compile(r"\b(un-?\s?|non-?\s?|not |no |without )clip", re.IGNORECASE)
CLIPPED = re.compile(r"\bclipped\b|\bwith clipping\b", re.IGNORECASE)
DOUBTFUL = re.compile(
    r"\b(no|not|non|never|without|w/o|false|off|none|before|ohne|sans|sin)\b",
    re.IGNORECASE,
)


def says(text: str) -> str | None:
    """Whether a label says "clipped" or "unclipped"; None where it says neither for certain."""
    if UNCLIPPED.search(text):
        return "unclipped"
    return "clipped" if CLIPPED.search(text) and not DOUBTFUL.search(text) else None


@item(
    "Both series are drawn as curves of their raw values over the steps",
    points=0.5,
    hint="Read the numbers back: figure.axes[0].lines[0].get_xydata().",
)
def test_both_series_are_drawn(student, rng):
    series = [random_norms(rng, 30, 1.0) for _ in range(2)]
    both_curves(drawn(student, *series, 1.0), series, 1.0)


@item(
    "A horizontal line lies at clip_norm",
    points=0.5,
    hint="axes.axhline draws one right across. At which height should it be when clip_norm is 2.5?",
)
def test_a_line_lies_at_the_clip_norm(student, rng):
    clip_norm = float(np.round(rng.uniform(2.2, 2.9), 2))
    unclipped, clipped = (random_norms(rng, 30, clip_norm) for _ in range(2))
    require_level(drawn(student, unclipped, clipped, clip_norm), clip_norm)


@item(
    "Both axes have a label",
    points=0.5,
    hint="A reader should see what runs along each axis: look for set_xlabel and set_ylabel.",
)
def test_the_axes_are_labelled(student, rng):
    figure = drawn(student, random_norms(rng, 30, 1.0), random_norms(rng, 30, 1.0), 1.0)
    require(figure.axes, "The figure has no Axes.")
    for name in "xy":
        texts = [figure.labels[name], *(axes[name] for axes in figure.axes)]
        require(any(texts), f"The {name} axis has no label.")


@item(
    "A legend tells the two series apart",
    points=0.5,
    hint="Give each curve a label of its own, and ask for the legend after both are drawn.",
)
def test_a_legend_tells_the_series_apart(student, rng):
    series = [random_norms(rng, 30, 1.0) for _ in range(2)]
    require_legend(drawn(student, *series, 1.0), series, 1.0)


def require_legend(figure: Drawn, series: Sequence[np.ndarray], clip_norm: float) -> Curves | None:
    """Fails unless each curve has an entry of its own in a legend, and a look of its own.

    Where the curves are not there, which other items say, two different entries are enough.

    Returns:
      The curves, where they are there.
    """
    texts = {text for legend in figure.legends for text, _ in legend["entries"] if text}
    require(texts, "There is no legend, or it has no entries. Only what has a label gets one.")
    try:
        curves = both_curves(figure, series, clip_norm)
    except CheckFailed:
        require(len(texts) > 1, "The legend has a single entry for two series.")
        return None
    own = [legend_texts(figure, line) for line in curves[1:]]
    for found, name in zip(own, ("unclipped", "clipped"), strict=True):
        require(found, f"No entry of the legend stands for the curve of the {name} norms.")
    require(own[0] - own[1] and own[1] - own[0], "The legend says the same of both curves.")
    places = [figure.axes[line.axes]["position"] for line in curves[1:]]
    require(
        places[0] != places[1] or curves.unclipped.style != curves.clipped.style,
        "Both curves look the same, so the legend cannot tell them apart.",
    )
    return curves


@item(
    "pyplot and matplotlib's settings are left as they were",
    points=0.5,
    hint="Compare plt.get_fignums() and matplotlib.rcParams before and after. A figure can be made"
    " without pyplot, or closed.",
)
def test_pyplot_is_left_as_it_was(student, rng):
    args = (random_norms(rng, 30, 1.0), random_norms(rng, 30, 1.0), 1.0)
    report = student.run("clipping.figure", *args)
    require_figure(report)
    left = {name: report.get(name) for name in ("windows", "left_open", "settings")}
    reported(left, {"windows": int, "left_open": int, "settings": list})
    require(left["windows"] == 0, "The function opened a window: it calls show().")
    require(
        left["left_open"] == 0,
        "A figure is still open in pyplot after the call. Each call would leave one more.",
    )
    names = ", ".join(name for name in left["settings"][:3] if isinstance(name, str))
    require(not left["settings"], f"The call changed matplotlib.rcParams: {names[:120]}.")
