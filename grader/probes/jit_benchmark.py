"""Training steps of known cost for `jit_benchmark`, and what becomes of them.

A step here sleeps or computes for as long as the test says, and keeps a count of what was done with
it. The counts are this process's own story; times are checked on the trusted side.
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from types import FrameType, ModuleType
from typing import Any

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
import optax

Step = Callable[..., tuple[Any, Any, Any]]

OUTPUTS = ("params", "opt_state", "loss")


def sleeping(
    module: ModuleType,
    costs: dict[str, Any],
    params: Any,
    opt_state: Any,
    x: jax.Array,
    y: jax.Array,
    n_steps: int | None,
) -> dict[str, Any]:
    """Benchmarks a step that sleeps, and says what was done with it.

    Args:
      costs: see `sleeping_step`.
      params, opt_state: pytrees of float arrays; a step adds 1 to every element.
      n_steps: None: left to the student's default.

    Returns:
      `result`: what the student's function returned; `counts`: what `sleeping_step` counted.
    """
    counts: defaultdict[str, float] = defaultdict(int)
    step = sleeping_step(costs, counts, params, opt_state, x, y)
    args = () if n_steps is None else (n_steps,)
    result = module.benchmark_train_step(step, params, opt_state, x, y, *args)
    return {"result": result, "counts": dict(counts)}


def sleeping_step(
    costs: dict[str, Any],
    counts: defaultdict[str, float],
    params: Any,
    opt_state: Any,
    x: Any,
    y: Any,
) -> Step:
    """A step whose cost is known, and who counts what is done with it.

    Args:
      costs: seconds of sleep.
        `first_eager`: in the first call that is not traced, for each shape of `x`;
        `eager`: in the later ones, a list that is gone through again and again;
        `trace`: in a call that is traced;
        `first_jit`: in the first execution of the traced step;
        `jit`: in the later ones, a list as above.
        `outputs`: which outputs of the traced step need its execution to be counted; the first of
        them is the one that sleeps.
      counts: gets
        `first_call`: seconds from the last tracing to the end of the execution that follows, the
        longest such time;
        `eager`: calls that were not traced; `traces`: those that were;
        `eager_own`, `jit_own`: calls and executions on the given batch, from a state that is the
        given one or was reached from it by steps;
        `jit_OUTPUT`: executions that were needed for that output;
        `unjitted`: runs, without being traced, of a function that the step itself puts under jit;
        `looped`: traces inside a loop of JAX; `unrolled`: more than one call in the same trace.
    """
    eager, jitted = itertools.cycle(costs["eager"]), itertools.cycle(costs["jit"])
    marks = _marks(params, opt_state, x, y)
    traces: list[Any] = []
    shapes: set[tuple[int, ...]] = set()
    began: float | None = None

    def plus_one(tree: Any) -> Any:
        if not _traced(tree):
            counts["unjitted"] += 1
        return jax.tree.map(lambda leaf: leaf + 1, tree)

    inner = jax.jit(plus_one)

    def executed(output: str) -> Callable[[Any], np.float32]:
        def record(seen: Any) -> np.float32:
            nonlocal began
            counts[f"jit_{output}"] += 1
            if output == costs["outputs"][0]:
                counts["jit_own"] += _own(np.asarray(seen), marks)
                first = counts[f"jit_{output}"] == 1
                time.sleep(costs["first_jit"] if first else next(jitted))
                if began is not None:
                    counts["first_call"] = max(counts["first_call"], time.perf_counter() - began)
                    began = None
            return np.float32(0)

        return record

    def train_step(params: Any, opt_state: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
        nonlocal began
        called = time.perf_counter()
        seen = jnp.stack(jax.tree.map(jnp.float32, _corners(params, opt_state, x, y)))
        outputs = {
            "params": inner(params),
            "opt_state": jax.tree.map(lambda leaf: leaf + 1, opt_state),
            "loss": jnp.mean(x),
        }
        if _traced(seen):
            counts["traces"] += 1
            counts["looped"] += _inside_a_loop()
            trace = _trace(seen)
            counts["unrolled"] += any(trace is other for other in traces)
            traces.append(trace)
            began = called
            time.sleep(costs["trace"])
            for output in costs["outputs"]:
                scalar = jax.ShapeDtypeStruct((), jnp.float32)
                zero = jax.pure_callback(executed(output), scalar, seen)
                outputs[output] = jax.tree.map(lambda leaf, zero=zero: leaf + zero, outputs[output])
        else:
            counts["eager"] += 1
            counts["eager_own"] += _own(np.asarray(seen), marks)
            time.sleep(next(eager) if x.shape in shapes else costs["first_eager"])
            shapes.add(x.shape)
        return outputs["params"], outputs["opt_state"], outputs["loss"]

    return train_step


def computing(
    module: ModuleType,
    late: str,
    seconds: dict[str, float],
    params: Any,
    opt_state: Any,
    x: jax.Array,
    y: jax.Array,
    n_steps: int,
) -> dict[str, Any]:
    """Benchmarks steps whose output `late` takes a computation of a known time.

    The other outputs are ready at once, so only who waits for this one sees the time.

    Args:
      late: an output, or `first_params` or `last_params`: the first or last leaf of the parameters.
      seconds: `eager`: processor seconds of a step that is not traced, but for the first of them,
        which is cheap; `jit`: of an execution of the traced step. Where it is 0 nothing
        is computed.

    Returns:
      `result`: what the student's function returned; `counts`: under `eager` the calls that were
      not traced; under `unready` how often such a call was still being computed when the student
      had the step traced, or returned; under `pending` the seconds that the return left work
      behind, which all later work waits for; under `speed` how many times as fast the processor is
      by then as when the steps were made to measure.
    """
    rate = _rounds_a_second()
    eager_calls = unready = 0
    last: list[Any] = []
    once = jnp.int32(1)
    eager_rounds = jax.block_until_ready(jnp.int32(1 + rate * seconds["eager"]))
    jit_rounds = jax.block_until_ready(jnp.int32(1 + rate * seconds["jit"]))

    def train_step(params: Any, opt_state: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
        nonlocal eager_calls, unready
        state, rounds = opt_state
        leaves, treedef = jax.tree.flatten(jax.tree.map(lambda leaf: leaf + 1, params))
        state, unchanged, loss = state + 1, rounds + 0, jnp.mean(x)
        # Only now: what is asked for after the long computation waits for its turn.
        if _traced(loss):
            unready += _unready(last)
            spent = _compute(rounds) if seconds["jit"] else 0
        else:
            spent = _compute(eager_rounds if eager_calls else once) if seconds["eager"] else 0
            eager_calls += 1
            last[:] = [spent] if seconds["eager"] else []
        match late:
            case "first_params":
                leaves[0] = leaves[0] + spent
            case "last_params":
                leaves[-1] = leaves[-1] + spent
            case "opt_state":
                state = state + spent
            case "loss":
                loss = loss + spent
        return jax.tree.unflatten(treedef, leaves), (state, unchanged), loss

    start = params, (opt_state, jit_rounds), x, y
    result = module.benchmark_train_step(train_step, *start, n_steps)
    unready += _unready(last)
    returned = time.perf_counter()
    jax.block_until_ready(_compute(once))
    pending = time.perf_counter() - returned
    speed = _rate(int(0.01 * rate)) / rate
    counts = {"eager": eager_calls, "unready": unready, "pending": pending, "speed": speed}
    return {"result": result, "counts": counts}


def _unready(arrays: list[Any]) -> bool:
    return any(not array.is_ready() for array in arrays)


def plain_step(learning_rate: float) -> Step:
    """The lesson's step with plain gradient descent, not jitted."""
    from mnist_mlp import loss_fn

    def train_step(params: Any, opt_state: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        params = jax.tree.map(lambda p, g: p - learning_rate * g, params, grads)
        return params, jax.tree.map(lambda leaf: leaf + 1, opt_state), loss

    return train_step


def decayed(rate: float, decay: float) -> optax.GradientTransformation:
    """Gradient descent with weight decay, or without where `update` is not given the parameters."""

    def update(grads: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        params = jax.tree.map(jnp.zeros_like, grads) if params is None else params
        return jax.tree.map(lambda g, p: -rate * (g + decay * p), grads, params), state

    return optax.GradientTransformation(lambda params: (), update)


def tracers_seen(module: ModuleType, params: Any, x: jax.Array, y: jax.Array) -> list[bool]:
    """For each time that an optimizer is asked in five steps: whether it is handed tracers."""
    seen: list[bool] = []

    def update(grads: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        seen.append(_traced((grads, state, params)))
        return jax.tree.map(lambda g: -0.5 * g, grads), state + 1

    optimizer = optax.GradientTransformation(lambda params: jnp.float32(0), update)
    step = _student_step(module, optimizer)
    state = [params, optimizer.init(params)]
    for _ in range(5):
        *state, _ = step(*state, x, y)
    return seen


def same_step(
    module: ModuleType,
    optimizer: optax.GradientTransformation,
    params: Any,
    x: jax.Array,
    y: jax.Array,
    times: int,
) -> list[Any]:
    """Makes the same step so many times; the parameters and the loss of each."""
    step = _student_step(module, optimizer)
    opt_state = optimizer.init(params)
    results = [step(params, opt_state, x, y) for _ in range(times)]
    return [{"params": new_params, "loss": loss} for new_params, _, loss in results]


def jit_inside(module: ModuleType, params: Any, x: jax.Array, y: jax.Array) -> dict[str, Any]:
    """Looks for jit in a step, by making two steps and by tracing it twice.

    What is under jit shows in the program, and is not called again the second time.

    Returns:
      `jitted`: how many functions that are not JAX's own are under jit; `made`: how many of the
      lesson's functions were called in each of two steps; `traced`: how many functions of the
      student's, the lesson's and Optax's in each of two tracings; `control`: whether the step holds
      control flow, whose branches are not called again either.
    """
    from mnist_mlp import loss_fn

    optimizer = optax.sgd(0.125)
    step = _student_step(module, optimizer)
    args = params, optimizer.init(params), x, y
    lesson = loss_fn.__code__.co_filename
    theirs, library = (os.path.dirname(str(m.__file__)) for m in (module, optax))

    def counted(path: str) -> bool:
        return os.path.dirname(path) in (theirs, os.path.dirname(lesson)) or path.startswith(
            library + os.sep
        )

    made = [_count_calls(lesson.__eq__, lambda: step(*args))[0] for _ in range(2)]
    traced = [
        _count_calls(counted, lambda: jax.make_jaxpr(lambda *a: step(*a))(*args)) for _ in range(2)
    ]
    equations = [e for _, program in traced for e in _equations(program.jaxpr)]
    return {
        "jitted": sum(_is_foreign_jit(equation) for equation in equations),
        "made": made,
        "traced": [count for count, _ in traced],
        "control": any(equation.primitive.name in _CONTROL_FLOW for equation in equations),
    }


def steps_with(
    module: ModuleType,
    optimizers: list[optax.GradientTransformation],
    params: Any,
    x: jax.Array,
    y: jax.Array,
    n_steps: int,
    jitted: bool = False,
) -> list[Any]:
    """Makes `n_steps` steps with each optimizer: all are made first, then step in turn.

    Args:
      x, y: a batch a step on the leading axis.

    Returns:
      For each optimizer the final parameters and `n_steps` losses.
    """
    steps = [_student_step(module, optimizer) for optimizer in optimizers]
    if jitted:
        steps = [jax.jit(step) for step in steps]
    states = [(params, optimizer.init(params)) for optimizer in optimizers]
    losses: list[list[Any]] = [[] for _ in optimizers]
    for index in range(n_steps):
        for number, step in enumerate(steps):
            new_params, opt_state, loss = step(*states[number], x[index], y[index])
            states[number] = new_params, opt_state
            losses[number].append(loss)
    return [
        {"params": state[0], "losses": loss} for state, loss in zip(states, losses, strict=True)
    ]


def ten_steps(
    module: ModuleType, which: str, params: Any, x: jax.Array, y: jax.Array
) -> Callable[[], None]:
    """A function that makes ten steps of Adam and waits for them.

    Args:
      which: `eager` or `jitted`: the student's step; `reference`: the lesson's, jitted.
    """
    optimizer = optax.adam(1e-3)
    step = lesson_step(optimizer) if which == "reference" else _student_step(module, optimizer)
    if which != "eager":
        step = jax.jit(step)
    start = [params, optimizer.init(params)]

    def run() -> None:
        state = start
        for _ in range(10):
            *state, loss = step(*state, x, y)
        jax.block_until_ready((state, loss))

    return run


def lesson_step(optimizer: optax.GradientTransformation) -> Step:
    """The step of `mnist_mlp.train`, not jitted."""
    from mnist_mlp import loss_fn

    def train_step(params: Any, opt_state: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return train_step


def _student_step(module: ModuleType, optimizer: optax.GradientTransformation) -> Step:
    """The student's step; what it returns is not taken apart before it is looked at."""
    step = module.make_train_step(optimizer)

    def train_step(*args: Any) -> tuple[Any, Any, Any]:
        result = step(*args)
        if not (isinstance(result, tuple | list) and len(result) == 3):
            raise TypeError("train_step does not return three things: params, opt_state and loss")
        return result[0], result[1], result[2]

    return train_step


def _traced(tree: Any) -> bool:
    """Whether computed values are being traced; arguments need not be, where they are constants."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(tree))


def _trace(value: Any) -> Any:
    """What a tracer belongs to: an object of its own for every trace."""
    return getattr(value, "_trace", value)


def _inside_a_loop() -> bool:
    """Whether the caller is being traced by `scan`, `fori_loop`, `while_loop` or `lax.map`."""
    frame: FrameType | None = sys._getframe(1)
    while frame:
        if frame.f_code.co_filename.endswith(os.path.join("control_flow", "loops.py")):
            return True
        frame = frame.f_back
    return False


def _corners(params: Any, opt_state: Any, x: Any, y: Any) -> list[Any]:
    states = [jnp.ravel(jax.tree.leaves(tree)[0])[0] for tree in (params, opt_state)]
    return [*states, x[0, 0], x[-1, -1], y[0], y[-1]]


def _marks(params: Any, opt_state: Any, x: Any, y: Any) -> np.ndarray:
    return np.array([float(value) for value in _corners(params, opt_state, x, y)], np.float32)


def _own(seen: np.ndarray, marks: np.ndarray) -> bool:
    """Whether a call saw the given batch, and a state reached from the given one."""
    steps = seen[:2] - marks[:2]
    return bool((seen[2:] == marks[2:]).all() and (steps >= 0).all() and (steps % 1 == 0).all())


def _going(carry: tuple[Any, Any, Any]) -> Any:
    return carry[0] < carry[1]


def _round(carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    # A product of matrices: programs without any count as cheap, and a processor runs those at once
    # instead of asynchronously.
    return carry[0] + 1, carry[1], jnp.cos(carry[2] @ carry[2])


@jax.jit  # one call is soon made, also on a busy machine
def _compute(rounds: jax.Array) -> jax.Array:
    """Zero, after a computation of `rounds` rounds that cannot be left out."""
    start = (jnp.zeros((), jnp.int32), rounds, jnp.full((32, 32), 0.1, jnp.float32))
    end = jax.lax.while_loop(_going, _round, start)[2]
    return jnp.minimum(jnp.sum(end * end), 0.0)


@functools.cache
def _rounds_a_second() -> float:
    """How many rounds of `_compute` a processor makes in a second of its own time."""
    rounds = 1000
    while rounds / (rate := _rate(rounds)) < 0.01:
        rounds *= 4
    return rate


def _rate(rounds: int) -> float:
    """Rounds a second, the best of three times.

    Measured in processor time, which other programs on the machine change only where they share
    the core's units.
    """
    clock = time.process_time if jax.default_backend() == "cpu" else time.perf_counter
    count = jnp.int32(rounds)
    jax.block_until_ready(_compute(count))
    taken = []
    for _ in range(3):
        start = clock()
        jax.block_until_ready(_compute(count))
        taken.append(clock() - start)
    return rounds / max(min(taken), 1e-6)


_CONTROL_FLOW = {"cond", "scan", "while", "checkpoint", "remat", "remat2"}


def _equations(program: Any) -> Iterator[Any]:
    """The equations of a program and of all programs inside it."""
    for equation in program.eqns:
        yield equation
        for inner in jax.extend.core.jaxprs_in_params(equation.params):
            yield from _equations(inner)


def _is_foreign_jit(equation: Any) -> bool:
    """Whether an equation is a jitted function that does not come with JAX."""
    if equation.primitive.name not in ("jit", "pjit"):
        return False
    source = getattr(equation.params["jaxpr"].jaxpr.debug_info, "func_filename", None) or ""
    return not source.startswith(os.path.dirname(jax.__file__))


def _count_calls(watched: Callable[[str], bool], function: Callable[[], Any]) -> tuple[int, Any]:
    """How many functions of the files that are `watched` a call calls; and its result."""
    count = 0

    def profile(frame: Any, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call" and watched(frame.f_code.co_filename)

    sys.setprofile(profile)
    try:
        result = function()
    finally:
        sys.setprofile(None)
    return count, result
