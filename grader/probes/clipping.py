"""What the worker observes of optimizers, training runs and figures for the exercise clipping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree


def updates(
    module: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    sequences: Sequence[Sequence[Any]],
    jitted: bool = False,
) -> dict[str, Any]:
    """What one optimizer of `make_optimizer` answers to sequences of gradients, taken in turns.

    Returns:
      "optax": whether it is an `optax.GradientTransformation`; "updates": for each sequence, the
      update for each of its gradients, from a state of its own. The parameters are large, so that
      an update that depends on them would show.
    """
    optimizer = module.make_optimizer(*args, **kwargs)
    init, update = optimizer if type(optimizer) is tuple else (optimizer.init, optimizer.update)
    if jitted:
        update = jax.jit(update)
    params = [
        jax.tree.map(lambda leaf: jnp.full_like(leaf, 1e4), gradients[0]) for gradients in sequences
    ]
    states: list[Any] = []
    answers: list[list[Any]] = [[] for _ in sequences]
    # Each starts one turn after the one before: what an earlier run left behind would show.
    for turn in range(max(map(len, sequences)) + len(sequences) - 1):
        for number, gradients in enumerate(sequences):
            step = turn - number
            if step == 0:
                states.append(init(params[number]))
            if 0 <= step < len(gradients):
                answer, states[number] = update(gradients[step], states[number], params[number])
                answers[number].append(answer)
    is_optax = isinstance(optimizer, optax.GradientTransformation)
    return {"optax": is_optax, "updates": answers}


def plain_sgd(learning_rate: float, clip_norm: float | None = None) -> optax.GradientTransformation:
    """Gradient descent, behind clipping by the global norm where `clip_norm` is given."""
    if clip_norm is None:
        return optax.sgd(learning_rate)
    return optax.chain(optax.clip_by_global_norm(clip_norm), optax.sgd(learning_rate))


class _Tethered(NamedTuple):
    steps: jax.Array
    first: Any


def tethered(learning_rate: float, decay: float, tether: float) -> optax.GradientTransformation:
    """Descent that needs the parameters, counts its steps and remembers the first parameters.

    The update of step 1, 2, ... is
    -step * learning_rate * (gradient + decay * params + tether * (params - first params)).
    """

    def init(params: Any) -> _Tethered:
        # Copies, so that a step may donate the parameters and the state alike.
        return _Tethered(jnp.zeros((), jnp.int32), jax.tree.map(jnp.copy, params))

    def update(gradients: Any, state: _Tethered, params: Any = None) -> tuple[Any, _Tethered]:
        if params is None:
            raise ValueError("this optimizer needs params too: update(gradients, state, params)")
        steps = state.steps + 1

        def of_leaf(gradient: jax.Array, now: jax.Array, first: jax.Array) -> jax.Array:
            return -steps * learning_rate * (gradient + decay * now + tether * (now - first))

        updates = jax.tree.map(of_leaf, gradients, params, state.first)
        return updates, _Tethered(steps, state.first)

    return optax.GradientTransformation(init, update)


class Recorded(NamedTuple):
    """A run of `train_with_norms` and what was observed of it."""

    result: Any
    gradients: np.ndarray
    """(steps, rows, units): the first rows of the first layer's gradient that `update` got."""
    loss_calls: int
    """How often Python ran the body of `mnist_mlp.forward`: when traced, or when eager."""
    update_calls: int
    """How often Python ran the optimizer's `update`."""


def record(module: Any, key: jax.Array, params: Any, data: Any, rows: int, *sizes: int) -> Recorded:
    """Runs `train_with_norms` with an optimizer that changes nothing and takes notes.

    `sizes` are n_steps and batch_size. The gradients are noted for the first `rows` inputs.
    """
    import mnist_mlp

    notes: list[np.ndarray] = []
    calls = {"loss": 0, "update": 0}
    template: Any = jax.tree.structure(params)
    _, unravel = ravel_pytree(params)

    def note(gradient: np.ndarray) -> np.ndarray:
        notes.append(np.array(gradient))
        return np.zeros((), np.float32)

    def update(given: Any, state: Any, params: Any = None) -> Any:
        calls["update"] += 1
        tree = given
        if jax.tree.structure(given) != template:  # whoever trains on one flat vector
            tree = unravel(ravel_pytree(given)[0])
        scalar = jax.ShapeDtypeStruct((), jnp.float32)
        zero = jax.pure_callback(note, scalar, tree["layer1"]["w"][:rows])
        # The parameters depend on the call, so no compiler may leave it out.
        return jax.tree.map(lambda leaf: jnp.full_like(leaf, zero), given), state

    optimizer = optax.GradientTransformation(lambda params: optax.EmptyState(), update)
    forward = mnist_mlp.forward

    def counted(*args: Any, **kwargs: Any) -> Any:
        calls["loss"] += 1
        return forward(*args, **kwargs)

    mnist_mlp.forward = counted
    try:
        result = module.train_with_norms(key, params, optimizer, data, *sizes)
        jax.block_until_ready(result)
    finally:
        mnist_mlp.forward = forward
    gradients = np.array(notes, np.float32)
    return Recorded(result, gradients, calls["loss"], calls["update"])


def figure(module: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """What `plot_grad_norms` draws, and what it does to pyplot meanwhile."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    # Settings of the caller's own, so that going back to the defaults shows as well.
    own = mpl.rc_context({"axes.titlepad": 6.5, "legend.borderpad": 0.45})
    with own, _counted_windows() as windows:
        settings, opened = dict(mpl.rcParams), plt.get_fignums()
        drawn = module.plot_grad_norms(*args, **kwargs)
        changed = {name: old for name, old in settings.items() if mpl.rcParams[name] != old}
    report: dict[str, Any] = {
        "type": type(drawn).__name__,
        "is_figure": isinstance(drawn, Figure),
        "left_open": len(set(plt.get_fignums()) - set(opened)),
        "windows": len(windows),
        "settings": list(changed),
    }
    plt.close("all")
    return report | _described(drawn) if report["is_figure"] else report


@contextmanager
def _counted_windows() -> Iterator[list[str]]:
    """A list that grows by one whenever a window of pyplot's would be shown."""
    from matplotlib.backend_bases import FigureManagerBase

    shown: list[str] = []
    show = FigureManagerBase.show
    FigureManagerBase.show = lambda self: shown.append("window")  # type: ignore[method-assign]
    try:
        yield shown
    finally:
        FigureManagerBase.show = show  # type: ignore[method-assign]


def _described(figure: Any) -> dict[str, Any]:
    from matplotlib.legend import Legend

    legends = [legend for legend in figure.findobj(Legend) if legend.get_visible()]
    return {
        "axes": [_axes(axes) for axes in figure.axes],
        "labels": {"x": figure.get_supxlabel().strip(), "y": figure.get_supylabel().strip()},
        "lines": [
            line
            for number, axes in enumerate(figure.axes)
            for artist in axes.get_children()
            for line in _lines(artist, number, axes)
        ],
        "legends": [
            {
                # None: a legend of the whole figure's.
                "axes": figure.axes.index(legend.axes) if legend.axes in figure.axes else None,
                "entries": [
                    {"text": text.get_text().strip(), "style": _style(handle)}
                    for text, handle in zip(legend.texts, legend.legend_handles, strict=False)
                ],
            }
            for legend in legends
        ],
    }


def _axes(axes: Any) -> dict[str, Any]:
    return {
        "title": " ".join(axes.get_title(loc) for loc in ("left", "center", "right")).strip(),
        "x": axes.get_xlabel().strip(),
        "y": axes.get_ylabel().strip(),
        "xlim": sorted(map(float, axes.get_xlim())),
        "ylim": sorted(map(float, axes.get_ylim())),
        "position": [round(float(edge), 3) for edge in axes.get_position().bounds],
    }


def _lines(artist: Any, number: int, axes: Any) -> Iterator[dict[str, Any]]:
    """Where the lines of an artist run; none where it has no lines, or its y is in other units."""
    from matplotlib.colors import to_hex

    paths = _paths(artist, axes)
    if not paths:
        return
    label = str(artist.get_label())
    style = _style(artist)
    widest = np.max(np.asarray(artist.get_linewidth()), initial=0.0)
    shown = artist.get_visible() and _opacity(artist) > 0 and widest > 0
    stands_out = style["colour"] != to_hex(axes.get_facecolor())
    for path in paths:
        yield {
            "axes": number,
            "x": path[:, 0],
            "y": path[:, 1],
            "label": "" if label.startswith("_") else label,
            "style": style,
            "visible": bool(
                shown and stands_out and axes.get_visible() and style["line"] not in ("None", "")
            ),
        }


def _opacity(artist: Any) -> float:
    """From 0 to 1, by the artist's alpha and that of its colour."""
    from matplotlib.colors import to_rgba_array
    from matplotlib.lines import Line2D

    alpha = artist.get_alpha()
    colour: Any = artist.get_color() if isinstance(artist, Line2D) else artist.get_edgecolor()
    own = to_rgba_array(colour, alpha)[:, 3]
    return float(np.max(own, initial=0.0))


def _paths(artist: Any, axes: Any) -> list[np.ndarray]:
    """The (points, 2) that an artist draws lines through."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import AxLine, Line2D
    from matplotlib.patches import StepPatch

    paths: list[Any]
    match artist:
        case AxLine():
            first, second = artist.get_xy1(), artist.get_xy2()
            height: Any = np.asarray(first)[1]
            level = artist.get_slope() == 0 if second is None else second[1] == height
            return [np.stack([axes.get_xlim(), [height] * 2], -1)] if level else []
        case Line2D():
            paths = [artist.get_xydata()]
        case StepPatch():
            values, edges, _ = map(np.asarray, artist.get_data())
            middles = (edges[:-1] + edges[1:]) / 2
            paths = [np.stack([middles, values] if len(values) > 1 else [edges, [*values] * 2], -1)]
        case LineCollection():
            paths = _joined(artist.get_segments())
        case _:
            return []
    paths = [np.asarray(path, np.float64) for path in paths if len(path)]
    # A patch moves its own numbers to the data's first.
    space = getattr(artist, "get_data_transform", artist.get_transform)()
    return [
        path
        for path in paths
        if np.allclose(
            space.transform(path)[:, 1], axes.transData.transform(path)[:, 1], equal_nan=True
        )
    ]


def _joined(segments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Paths of which each begins where the one before ends are one path."""
    paths: list[np.ndarray] = []
    for segment in segments:
        if paths and len(segment) and np.array_equal(paths[-1][-1], segment[0]):
            paths[-1] = np.concatenate([paths[-1], segment[1:]])
        elif len(segment):
            paths.append(segment)
    return paths


def _style(artist: Any) -> dict[str, str]:
    """What tells one line from another; "any" where an artist has no such thing."""
    from matplotlib.collections import Collection
    from matplotlib.colors import to_hex
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    match artist:
        case Line2D():
            # "None", "none", "" and " " all mean that there is none.
            line, marker = str(artist.get_linestyle()), str(artist.get_marker())
            marker = "None" if marker.strip().lower() in ("", "none") else marker
            colour: Any = artist.get_color()
            return {"colour": to_hex(colour), "line": line, "marker": marker}
        case Patch():
            face: Any = artist.get_facecolor() if artist.get_fill() else artist.get_edgecolor()
            return {"colour": to_hex(face), "line": "any", "marker": "any"}
        case Collection() if np.size(artist.get_edgecolor()):
            edge: Any = np.atleast_2d(artist.get_edgecolor())[0]
            return {"colour": to_hex(edge), "line": "any", "marker": "any"}
    return {"colour": "any", "line": "any", "marker": "any"}
