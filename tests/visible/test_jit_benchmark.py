"""What students see of the tests of jit_benchmark."""

import numpy as np
import pytest

from grader.checks import array, close, reported, require, same, scalar, tree
from grader.plugin import Exercise, item
from grader.values import make
from tests import oracles
from tests.mistakes import jit_benchmark as mistakes
from tests.timing import FIELDS, follows, settle, takes, timing

EXERCISE = Exercise(
    order=4,
    title="What jax.jit buys, and what it costs",
    hints=(
        "A training step is three lines: loss and gradients in one call, what the optimizer makes"
        " of the gradients, and the parameters with that added. Write it for one step and leave"
        " jit to the benchmark.",
        "Make one call that you do not time, start the clock, make n_steps calls, wait for all that"
        " they return, stop the clock. What has to be different for the jitted step, so that the"
        " first call can be told apart from the rest?",
        "A call of JAX returns before its work is done: look up jax.block_until_ready. And what the"
        " first jitted call does besides compiling is one step, whose time you know.",
    ),
)

SLACK = 0.16
"""Seconds that a busy machine may add to a whole interval before it is measured again."""


def require_change(result, params, want, what, atol=1e-4, known=()):
    """Compares by how much parameters have moved, by the largest change."""
    got = tree(result, params, what=what)
    moved = oracles.tree_map(lambda g, p: g.astype(np.float64) - p, got, params)
    largest = max(np.max(np.abs(leaf)) for leaf in oracles.tree_leaves(want))
    what = f"The change of {what}"
    close(moved, want, rtol=0, atol=atol * largest, what=what, mistakes=known)


def trajectory(rng, optimizers, n_steps, scale=1.0):
    """A network, batches that differ, and what each optimizer makes of them in float64.

    Args:
      optimizers: functions without arguments; each makes an `update(gradient, params)`.
      scale: how large the images are, and so the gradients.

    Returns:
      params; x and y, a batch a step; and for each optimizer the final change of the parameters and
      the losses before each update. No hidden value comes so near to 0 that rounding could flip its
      ReLU.
    """
    while True:
        params, _, _ = oracles.draw_examples(rng, batch=9)
        x = rng.normal(scale=scale, size=(n_steps, 9, 7)).astype(np.float32)
        y = rng.integers(4, size=(n_steps, 9)).astype(np.int32)
        runs, clear = [], True
        for make_update in optimizers:
            update, at, losses = make_update(), oracles.float64(params), []
            for images, labels in zip(x, y, strict=True):
                clear = clear and oracles.clearance(at, images) > 1e-4
                losses.append(oracles.loss(at, images, labels))
                gradient = oracles.gradient(at, images, labels)
                at = oracles.apply_updates(at, update(gradient, at))
            change = oracles.tree_map(lambda a, p: a - p, at, oracles.float64(params))
            runs.append((change, losses))
        if clear:
            return params, x, y, runs


def require_speedup(got):
    """Compares `speedup` with the ratio of the times beside it."""
    for name in ("eager_seconds", "jit_seconds", "first_call_seconds"):
        require(getattr(got, name) > 0, f"{name} is not above 0: was anything measured?")
    times = got.eager_seconds, got.jit_seconds, got.first_call_seconds
    known = mistakes.of_speedup(*times, got.n_steps)
    ratio = got.eager_seconds / got.jit_seconds
    close(got.speedup, ratio, rtol=2e-3, atol=0, what="speedup", mistakes=known)


def sleeping(student, rng, costs, n_steps=None):
    """The benchmark of a step that sleeps: see `sleeping_step` in the exercise's probes."""
    params = {"b": np.arange(3, dtype=np.float32), "a": {"w": np.full((2, 2), 0.375, np.float32)}}
    opt_state = (np.full(2, 5.25, np.float32), np.zeros((), np.float32))
    x = rng.uniform(size=(4, 3)).astype(np.float32)
    y = rng.integers(10, size=4).astype(np.int32)
    free = {"first_eager": 0.0, "eager": [0.0], "trace": 0.0, "first_jit": 0.0, "jit": [0.0]}
    costs = free | {"outputs": ["params"]} | costs
    reply = student.run("jit_benchmark.sleeping", costs, params, opt_state, x, y, n_steps)
    reported(reply, {"result": object, "counts": dict})
    known = {"costs": costs, "counts": reply["counts"]}
    observed = {"wall": student.seconds, "changed": student.changed}
    return timing(reply["result"], n_steps or 100, **known, **observed)


def steps_with(student, optimizers, params, x, y, n_steps, jitted=False):
    """What steps with each of the optimizers make of the parameters, and their losses."""
    runs = student.run("jit_benchmark.steps_with", optimizers, params, x, y, n_steps, jitted=jitted)
    return reported(runs, [{"params": object, "losses": [object] * n_steps}] * len(optimizers))


def settle_three_steps(student, rng, check):
    """Checks the benchmark of three steps of known cost, which several items share."""
    scale = rng.uniform(1.0, 1.2)
    costs = {
        "first_eager": 0.5 * scale,
        # Three steps cost the same from whichever of them the clock starts, two always less.
        "eager": [0.24 * scale, 0.06 * scale, 0.1 * scale],
        "trace": 0.4 * scale,
        "first_jit": 0.2 * scale,
        "jit": [0.2 * scale],
    }
    return settle(student, "three steps", lambda: sleeping(student, rng, costs, n_steps=3), check)


@item(
    "One step of gradient descent changes the parameters as it should",
    points=1,
    hint="Print optimizer.update's first result beside the gradients. Which of them is added?",
)
def test_step_updates_the_parameters(student, rng):
    rate = 0.4  # twice that is not the raw gradient
    params, x, y, [(change, _)] = trajectory(
        rng, [lambda: lambda g, p: oracles.tree_map(lambda leaf: -rate * leaf, g)], 1, 20.0
    )
    optimizers = [make("optimizer", "sgd", rate)]
    [run] = steps_with(student, optimizers, params, x, y, 1)
    known = mistakes.of_update(params, x[0], y[0], rate)
    require_change(run["params"], params, change, "params after optax.sgd", known=known)


@item(
    "The loss is the one before the update",
    points=1,
    hint="At which parameters did you compute the loss that you return?",
)
def test_loss_is_before_the_update(student, rng):
    rate = 0.5
    params, x, y, [(change, losses)] = trajectory(
        rng, [lambda: lambda g, p: oracles.tree_map(lambda leaf: -rate * leaf, g)], 1
    )
    optimizers = [make("optimizer", "sgd", rate)]
    [run] = steps_with(student, optimizers, params, x, y, 1)
    loss = array(run["losses"][0], shape=(), dtype="float32", what="loss")
    moved = oracles.apply_updates(params, change)
    known = mistakes.of_loss(params, moved, x[0], y[0])
    close(loss, losses[0], rtol=1e-4, atol=1e-5, what="loss", mistakes=known)


@item(
    "Adam's state goes on from step to step",
    points=1,
    hint="optimizer.update returns two things. Where does the second one go?",
)
def test_adam_state_is_carried(student, rng):
    arguments = (1e-2, 0.8, 0.95, 1e-3)

    def fresh():
        return oracles.Adam(*arguments)

    def adam():
        optimizer = fresh()
        return lambda g, p: optimizer.update(g)

    params, x, y, [(change, _)] = trajectory(rng, [adam], 4)
    optimizers = [make("optimizer", "adam", *arguments)]
    [run] = steps_with(student, optimizers, params, x, y, 4)
    known = mistakes.of_adam(params, x, y, fresh)
    require_change(run["params"], params, change, "params after optax.adam", 1e-3, known)


@item(
    "A step is pure: the same arguments give the same result and stay as they were",
    points=0.5,
    hint="Does the step keep or change anything that lives longer than the call?",
)
def test_step_is_pure(student, rng):
    params, x, y = oracles.draw_examples(rng, batch=9)
    momentum = make("optimizer", "sgd", 0.125, 0.9)
    made = student.run("jit_benchmark.same_step", momentum, params, x, y, 12)
    made = reported(made, [{"params": object, "loss": object}] * 12)
    require(not student.changed, "The step changes or deletes what it is given.")
    first, *later = [(tree(one["params"], params, what="params"), one["loss"]) for one in made]
    for name in params:
        require(
            np.any(first[0][name]["w"] != params[name]["w"]),
            "The step gives the parameters back as they were.",
        )
    for number, (new_params, loss) in enumerate(later, start=2):
        which = f"call {number} with the same arguments"
        same(new_params, first[0], what=f"what {which} gives")
        same(scalar(loss), scalar(first[1]), what=f"the loss of {which}")


@item(
    "The step is not jitted: the optimizer is handed arrays",
    points=1,
    hint="The benchmark adds jit. What if there is one already?",
)
def test_step_is_not_jitted(student, rng):
    params, x, y = oracles.draw_examples(rng, batch=9)
    seen = reported(student.run("jit_benchmark.tracers_seen", params, x, y), list)
    require(
        len(seen) == 5 and all(one is False for one in seen),
        "The optimizer is handed tracers: the step is under jax.jit already, so a benchmark would"
        " compare jit with jit."
        if any(one is True for one in seen)
        else "In five calls of the step the optimizer is not asked five times.",
    )


@item(
    "A benchmark gives five numbers that agree with each other",
    points=1,
    hint="Return a Benchmark. speedup says how many times as long the steps take without jit.",
)
def test_benchmark_agrees_with_itself(student, rng):
    params, x, y = oracles.draw_examples(rng, batch=9)
    step, state = make("jit_benchmark.plain_step", 0.125), ()
    for n_steps in (4, 1):  # one jitted step takes less than a hundredth of a second
        value = student.benchmark_train_step(step, params, state, x, y, n_steps=n_steps)
        got = timing(value, n_steps)
        for name in FIELDS:
            require(getattr(got, name) >= 0, f"{name} is below 0.")
        require_speedup(got)


@item(
    "eager_seconds is the elapsed time of all the steps",
    points=1,
    hint="Which clock shows the time that passes while a step sleeps, and how many steps pass?",
    seconds=60,
    timing=True,
)
def test_eager_seconds(student, rng):
    def check(got):
        steps, warm_up = sum(got.costs["eager"]), got.costs["first_eager"]
        takes(
            got.eager_seconds,
            steps,
            steps + warm_up + SLACK,
            what="eager_seconds",
            means="3 steps without jit",
            mistakes=mistakes.of_eager(got.costs["eager"]),
        )

    settle_three_steps(student, rng, check)


@item(
    "eager_seconds leaves the warm-up out",
    points=0.5,
    hint="What happens in a very first call that no later call has to do again?",
    seconds=60,
    timing=True,
)
def test_eager_warm_up_is_not_counted(student, rng):
    def check(got):
        steps, warm_up = sum(got.costs["eager"]), got.costs["first_eager"]
        takes(
            got.eager_seconds,
            0.5 * steps / 3,
            steps + SLACK,
            what="eager_seconds",
            means="3 steps without jit, after a first one,",
            about=steps,
            mistakes=mistakes.of_eager(got.costs["eager"], warm_up),
        )
        require(
            got.count("eager") >= 4,
            f"train_step was called {got.count('eager')} times without jit; a warm-up and 3 steps"
            " that are all measured are 4 calls.",
        )

    settle_three_steps(student, rng, check)

    first, step = 0.4 * rng.uniform(1.0, 1.2), 0.1
    costs_of_one = {"first_eager": first, "eager": [step]}

    def check_one(got):
        known = mistakes.of_eager([step], first)
        takes(
            got.eager_seconds,
            step,
            step + SLACK,
            what="eager_seconds",
            means="a single step without jit, after a first one,",
            mistakes=known,
        )

    settle(
        student,
        "one step",
        lambda: sleeping(student, rng, costs_of_one, n_steps=1),
        check_one,
    )


@item(
    "jit_seconds is the elapsed time of all the jitted steps",
    points=1,
    hint="How many calls of the jitted function lie between the two readings of the clock?",
    seconds=60,
    timing=True,
)
def test_jit_seconds(student, rng):
    def check(got):
        steps, compiling = 3 * got.costs["first_jit"], got.costs["trace"]
        takes(
            got.jit_seconds,
            steps,
            steps + compiling + 3 * SLACK,
            what="jit_seconds",
            means="3 steps with jit",
            mistakes=mistakes.of_jit(3, steps),
        )

    settle_three_steps(student, rng, check)


@item(
    "jit_seconds leaves the compilation out",
    points=0.5,
    hint="When is a jitted function compiled: when jax.jit is called, or later?",
    seconds=60,
    timing=True,
)
def test_compilation_is_not_in_jit_seconds(student, rng):
    def check(got):
        steps, compiling = 3 * got.costs["first_jit"], got.costs["trace"]
        takes(
            got.jit_seconds,
            0.5 * steps / 3,
            steps + SLACK,
            what="jit_seconds",
            means="3 steps with jit, after compiling,",
            about=steps,
            mistakes=mistakes.of_jit(3, steps, compiling),
        )

    settle_three_steps(student, rng, check)


@item(
    "first_call_seconds holds compilation and execution",
    points=0.5,
    hint="Has anything called or compiled this step under jit before the clock starts?",
    seconds=60,
    timing=True,
)
def test_first_call_seconds(student, rng):
    what, means = "first_call_seconds", "compiling and one step"

    def check(got):
        step, compiling = got.costs["first_jit"], got.costs["trace"]
        takes(
            got.first_call_seconds,
            compiling + step,
            # Less than what a second step would add.
            max(compiling + step, got.seconds("first_call")) + 0.75 * step,
            what=what,
            means=means,
            mistakes=mistakes.of_first_call(step, compiling, 3),
        )

    got = settle_three_steps(student, rng, check)
    step, compiling = got.costs["first_jit"], got.costs["trace"]
    if got.first_call_seconds < got.seconds("first_call") - 0.5 * compiling:
        # XLA took so long that tracing may be missing: once more, with more of it.
        longer = got.costs | {"trace": min(2 * got.first_call_seconds, 3.0)}
        again = sleeping(student, rng, longer, n_steps=1)
        floor = longer["trace"] + step
        takes(again.first_call_seconds, floor, np.inf, what=what, means=means)


@item(
    "compile_seconds is the first call less one steady step",
    points=0.5,
    hint="A first call compiles and makes one step. What does one step take by now?",
    seconds=60,
    timing=True,
)
def test_compile_seconds(student, rng):
    def check(got):
        step, compiling = got.costs["first_jit"], got.costs["trace"]
        known = mistakes.of_compile(
            got.first_call_seconds, got.jit_seconds, got.eager_seconds, n_steps=3
        )
        what = "compile_seconds"
        takes(got.compile_seconds, compiling, np.inf, what=what, means="compiling", mistakes=known)
        follows(
            got.compile_seconds,
            max(0.0, got.first_call_seconds - got.jit_seconds / 3),
            0.5 * step,
            what=what,
            means="the first call less one jitted step",
            mistakes=known,
        )

    settle_three_steps(student, rng, check)


@item(
    "Under jit the step is about as fast as the lesson's",
    points=0.5,
    hint="Does the step loop over examples, or do anything that the update does not need?",
    seconds=60,
    timing=True,
)
@pytest.mark.benchmark(group="ten training steps")
def test_jitted_step_is_fast(student, rng, benchmark):
    params = oracles.random_params(rng, (784, 256, 128, 10))
    x = rng.uniform(size=(128, 784)).astype(np.float32)
    y = rng.integers(10, size=128).astype(np.int32)
    ours, theirs = (
        student.keep_run("jit_benchmark.ten_steps", which, params, x, y)
        for which in ("reference", "jitted")
    )

    def seconds(steps):
        student.call(steps)
        return student.seconds

    seconds(ours), seconds(theirs)
    ratios = []
    for _ in range(4):
        ratios += [seconds(theirs) / seconds(ours) for _ in range(3)]
        if np.median(ratios) < 5:
            break
    benchmark.pedantic(student.call, args=(theirs,), rounds=1)
    require(
        np.median(ratios) < 20,  # the contract asks for no speed: only a grave mistake is one
        f"Ten jitted steps take {np.median(ratios):.1f} times as long as the lesson's. What do"
        " they do that the update does not need?",
    )
