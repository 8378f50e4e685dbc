"""Eager, jitted and compiling: the student's benchmark of the lesson's step."""

from __future__ import annotations

from grader.checks import record, require, scalar
from grader.pictures import Digits, Picture
from grader.report import charts
from grader.student import Student
from grader.values import key, make

FIELDS = ("eager_seconds", "jit_seconds", "first_call_seconds", "compile_seconds", "speedup")
STEPS = 50


def draw(student: Student, digits: Digits) -> Picture:
    """Bars of the student's three times, and of the reference step's for as many steps."""
    optimizer = student.keep_run("made", make("optimizer", "adam", 1e-3))
    step = student.keep.make_train_step(optimizer)
    params = student.keep_run("made", make("initial", key(0)))
    state = student.keep_run("initial_state", optimizer, params)
    batch = digits.x[:128], digits.y[:128]
    result = student.benchmark_train_step(step, params, state, *batch, STEPS)
    found = record(result, "Benchmark", FIELDS)
    times = [scalar(getattr(found, name), what=name) for name in FIELDS[:4]]
    require(min(times) >= 0, "A time is below 0.")
    compiled = student.keep_run("reference_step", optimizer)
    for count in (1, STEPS):  # the first call compiles
        student.run("repeated", compiled, params, state, *batch, count)
    reference = student.seconds
    labels = (f"eager\n({STEPS} steps)", f"jit\n({STEPS} steps)", "first call", "compilation")
    figure = charts.figure()
    axes = charts.plain(figure.subplots())
    bars = axes.bar((*labels, f"reference, jit\n({STEPS} steps)"), [*times, reference])
    for bar, colour in zip(bars, [charts.FIRST] * 4 + [charts.SECOND], strict=True):
        bar.set_color(colour)
    axes.bar_label(bars, [f"{t:.3g} s" for t in (*times, reference)], color=charts.INK)
    axes.set(ylabel="seconds", yscale="log")
    caption = (
        f"{STEPS} steps take {times[0]:.3g} s eagerly and {times[1]:.3g} s under jit; the first"
        f" call takes {times[2]:.3g} s, {times[3]:.3g} s of it for compiling. The reference's"
        f" jitted steps take {reference:.3g} s by the grader's clock."
    )
    return Picture(charts.svg(figure, "Eager, jit and compilation", caption), caption)
