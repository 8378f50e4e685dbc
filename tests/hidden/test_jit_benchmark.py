"""What students do not see of the tests of jit_benchmark."""

import numpy as np

from grader.checks import array, close, reported, require
from grader.plugin import item
from grader.values import make
from tests import oracles
from tests.mistakes import jit_benchmark as mistakes
from tests.timing import ATTEMPTS, TooLong, follows, settle, takes, timing
from tests.visible.test_jit_benchmark import (
    SLACK,
    require_change,
    require_speedup,
    sleeping,
    steps_with,
    trajectory,
)

ADAM = (1e-2, 0.8, 0.95, 1e-3)


def descent(rate):
    """Makes plain gradient descent in NumPy."""
    return lambda: lambda g, p: oracles.tree_map(lambda leaf: -rate * leaf, g)


def decayed(rate, decay):
    """Makes gradient descent with weight decay in NumPy."""
    return lambda: lambda g, p: oracles.tree_map(lambda g, p: -rate * (g + decay * p), g, p)


def momentum(rate, decay):
    """Makes gradient descent with momentum in NumPy."""

    def make_update():
        trace = None

        def update(g, p):
            nonlocal trace
            trace = oracles.tree_map(lambda t, leaf: decay * t + leaf, trace, g) if trace else g
            return oracles.tree_map(lambda t: -rate * t, trace)

        return update

    return make_update


def clipped(bound, rate):
    """Makes clipping by the global norm and gradient descent in NumPy."""

    def update(g, p):
        return oracles.tree_map(lambda leaf: -rate * leaf, oracles.clip_by_global_norm(g, bound))

    return lambda: update


def adamw(decay):
    """Makes Adam with decoupled weight decay in NumPy."""

    def make_update():
        adam = oracles.Adam(*ADAM)

        def update(g, p):
            return oracles.tree_map(lambda u, leaf: u - ADAM[0] * decay * leaf, adam.update(g), p)

        return update

    return make_update


@item(
    "Optimizers that need the parameters get them",
    points=1,
    hint="What arguments does optimizer.update take?",
)
def test_adamw_gets_the_parameters(student, rng):
    """One optimizer fails without the parameters, the other does something else."""
    params, x, y, runs = trajectory(rng, [adamw(0.3), decayed(0.25, 0.4)], 3)
    optimizers = [
        make("optimizer", "adamw", *ADAM, 0.0, None, 0.3),
        make("jit_benchmark.decayed", 0.25, 0.4),
    ]
    names = ("optax.adamw", "an optimizer of our own")
    replies = steps_with(student, optimizers, params, x, y, 3)
    for name, reply, (change, _) in zip(names, replies, runs, strict=True):
        require_change(reply["params"], params, change, f"params after {name}", 1e-3)


@item(
    "Each step follows the optimizer that it was made with",
    points=1,
    hint="Make two steps with two optimizers. Do they still differ?",
)
def test_every_step_has_its_own_optimizer(student, rng):
    numpy = [descent(0.25), momentum(0.125, 0.9), clipped(0.05, 0.5)]
    params, x, y, runs = trajectory(rng, numpy, 3)
    names = ("optax.sgd", "optax.sgd with momentum", "clipping before optax.sgd")
    optimizers = [
        make("optimizer", "sgd", 0.25),
        make("optimizer", "sgd", 0.125, 0.9),
        make(
            "chain", make("optimizer", "clip_by_global_norm", 0.05), make("optimizer", "sgd", 0.5)
        ),
    ]
    replies = steps_with(student, optimizers, params, x, y, 3)
    for name, reply, (change, losses) in zip(names, replies, runs, strict=True):
        require_change(reply["params"], params, change, f"params after {name}", 1e-3)
        for index, want in enumerate(losses):
            loss = array(reply["losses"][index], shape=(), dtype="float32", what="loss")
            close(loss, want, rtol=1e-4, atol=1e-5, what=f"The loss of step {index + 1}")


@item(
    "There is no jit inside the step either",
    points=0.5,
    hint="Which functions does your step call, and is one of them jitted?",
)
def test_no_jit_inside_the_step(student, rng):
    params, x, y = oracles.draw_examples(rng, batch=9)
    seen = student.run("jit_benchmark.jit_inside", params, x, y)
    reported(seen, {"jitted": int, "made": [int] * 2, "traced": [int] * 2, "control": bool})
    again = all(second >= first for first, second in (seen["made"], seen["traced"]))
    require(
        seen["jitted"] == 0 and (again or seen["control"]),
        "A part of the step is under jax.jit: the benchmark would compare jit with jit.",
    )


@item(
    "The step works under jit",
    points=0.5,
    hint="Under jit values are not known. What does the step do with them besides computing?",
)
def test_step_works_under_jit(student, rng):
    params, x, y, [(change, losses)] = trajectory(rng, [momentum(0.125, 0.9)], 3)
    optimizers = [make("optimizer", "sgd", 0.125, 0.9)]
    [run] = steps_with(student, optimizers, params, x, y, 3, jitted=True)
    require_change(run["params"], params, change, "params after three jitted steps", 1e-3)
    got = [array(loss, shape=(), dtype="float32", what="loss") for loss in run["losses"]]
    close(np.array(got), np.array(losses), rtol=1e-4, atol=1e-5, what="The loss of three steps")


STEPS = 120


def settle_steps_as_given(student, rng, check):
    """Checks a benchmark of steps without cost that count what is done with them."""
    outputs = {"outputs": ["params", "opt_state", "loss"]}
    settle(student, "as given", lambda: sleeping(student, rng, outputs, n_steps=STEPS), check)


@item(
    "The steps without jit are calls of train_step itself, with what was given",
    points=0.5,
    hint="With what arguments, and under which settings of JAX, is train_step called?",
)
def test_eager_steps_are_as_given(student, rng):
    def check(got):
        require(
            got.count("eager") >= STEPS,
            f"{STEPS} steps without jit were asked for; train_step was called"
            f" {got.count('eager')} times without being traced.",
        )
        require(
            got.count("eager_own") >= STEPS,
            "The steps without jit are not made on the batch and from the state that were given.",
        )
        require(
            got.count("unjitted") == 0,
            "A function that the step itself puts under jit ran without it: JAX's own settings"
            " were changed (jax.disable_jit).",
        )

    settle_steps_as_given(student, rng, check)


@item(
    "The jitted steps are calls of one jitted function that returns everything",
    points=1,
    hint="What XLA need not return it does not compute; what is in one program is one call.",
)
def test_jitted_steps_are_whole_calls(student, rng):
    def check(got):
        for output in ("params", "opt_state", "loss"):
            count = got.count(f"jit_{output}")
            require(
                count >= STEPS,
                f"{STEPS} jitted steps were asked for, but {output} was computed {count} times"
                " under jit. XLA leaves out what the jitted function does not return.",
            )
        require(
            got.count("jit_own") >= STEPS,
            "The jitted steps are not made on the batch and from the state that were given.",
        )
        require(
            got.count("looped") == 0 and got.count("unrolled") == 0,
            "Many steps were compiled into one program. One call of the jitted function is one"
            " step.",
        )

    settle_steps_as_given(student, rng, check)


@item(
    "Nothing of the caller's is changed, deleted or donated",
    points=0.5,
    hint="What does donate_argnums do to the arrays of the one who calls?",
)
def test_caller_keeps_its_arrays(student, rng):
    def check(got):
        require(got.count("eager") > 0 and got.count("traces") > 0, "train_step was not called.")
        require(
            not got.changed,
            "The benchmark changes or deletes arrays that belong to its caller.",
        )

    settle_steps_as_given(student, rng, check)


@item(
    "100 steps by default, each of them made and measured",
    points=1,
    hint="Is every step that the times speak of really made?",
    seconds=60,
    timing=True,
)
def test_default_is_a_hundred_measured_steps(student, rng):
    # Uneven costs: no few steps stand for all. Twenty calls in a row cost the same from anywhere.
    cycle = [0.06, *[0.001] * 19]
    costs = {"eager": cycle, "jit": cycle, "first_jit": 0.001, "outputs": ["opt_state"]}

    def check(got):
        total = 5 * sum(cycle)
        for name, seconds in (("eager", got.eager_seconds), ("jit", got.jit_seconds)):
            count = got.count("eager" if name == "eager" else "jit_opt_state")
            require(
                count >= 100, f"100 steps are the default; the {name} ones were made {count} times."
            )
            what, means = f"{name}_seconds", "100 steps of uneven cost"
            takes(seconds, total - max(cycle), total + 4, what=what, means=means)
        # compile_seconds: the first call may be one of the steps as well.
        parts = got.eager_seconds + got.jit_seconds + got.compile_seconds
        require(
            parts <= got.wall + 0.01,
            f"The times add up to {parts:.2f} s, but the whole benchmark took {got.wall:.2f} s.",
        )
        require_speedup(got)

    settle(student, "default", lambda: sleeping(student, rng, costs), check)

    many = sleeping(student, rng, {"outputs": ["opt_state"]}, n_steps=250)
    for name in ("eager", "jit_opt_state"):
        made = many.count(name)
        require(
            made >= 250, f"With n_steps=250 the {name.split('_')[0]} steps were made {made} times."
        )

    # Three calls in a row hold the long one once; two, scaled to three, hold too much or nothing.
    long = 0.6
    costs_of_three = {"jit": [long, 0.0, 0.0], "outputs": ["loss"]}
    settle(
        student,
        "one long step",
        lambda: sleeping(student, rng, costs_of_three, n_steps=3),
        lambda got: takes(
            got.jit_seconds,
            long,
            long + SLACK,
            what="jit_seconds",
            means="3 steps of uneven cost",
        ),
    )


@item(
    "compile_seconds is never below 0",
    points=0.5,
    hint="What if the first call happens to be the fastest?",
    seconds=60,
    timing=True,
)
def test_compile_seconds_is_not_negative(student, rng):
    steady = 0.4
    for _ in range(ATTEMPTS):
        costs = {"first_jit": 0.0, "jit": [steady], "outputs": ["loss"]}
        got = sleeping(student, rng, costs, n_steps=1)
        require(got.compile_seconds >= 0, "compile_seconds is below 0.")
        require_speedup(got)
        within = 0.4 * steady
        if got.first_call_seconds < 0.5 * steady:
            within = 0.02 * steady  # 0, whatever later step was subtracted
            break
        steady *= 2  # compiling took so long that it hides the difference: once more
    times = got.first_call_seconds, got.jit_seconds, got.eager_seconds
    follows(
        got.compile_seconds,
        max(0.0, got.first_call_seconds - got.jit_seconds),
        within,
        what="compile_seconds",
        means="the first call less one steady step, or 0,",
        mistakes=mistakes.of_compile(*times, 1),
    )


def computing(student, rng, late, eager, jit, n_steps=1):
    """The benchmark of steps whose output `late` takes so many seconds to compute."""
    params = {"a": np.ones(3, np.float32), "b": {"c": np.ones((2, 2), np.float32)}}
    x = rng.uniform(size=(4, 3)).astype(np.float32)
    y = rng.integers(10, size=4).astype(np.int32)
    seconds = {"eager": eager, "jit": jit}
    state = np.zeros(2, np.float32)
    reply = student.run("jit_benchmark.computing", late, seconds, params, state, x, y, n_steps)
    reply = reported(reply, {"result": object, "counts": dict})
    known = {"costs": seconds, "counts": reply["counts"]}
    return timing(reply["result"], n_steps, wall=student.seconds, **known)


READY = 0.45
"""The share of the processor's time for a computation that nobody who waits for it stays below.

Right benchmarks read 0.7 of it or more, those that do not wait some hundredths.
"""


def ready(got, seconds):
    """What a clock that waits shows at least of so many seconds of computing.

    They were measured before the benchmark; a core whose other half was busy then, and is no more,
    was seen to be 2.3 times as fast.
    """
    return READY * seconds / min(max(1.0, got.seconds("speed")), 3.0)


def require_waiting(student, rng, late, output):
    """Requires that a step without jit is waited for, whose `late` output is ready last."""
    cost = 0.25
    for _ in range(2):
        got = computing(student, rng, late, eager=cost, jit=0.0)
        if got.count("eager") == 1:
            # No warm-up, which another item tells: it was the cheap call that was measured.
            got = computing(student, rng, late, eager=cost, jit=0.0, n_steps=2)
        require(
            got.eager_seconds >= ready(got, cost),
            f"eager_seconds is {got.eager_seconds:.3f}, but computing {output} takes about"
            f" {cost} s: the clock stopped before it was ready.",
        )
        # The time alone may be that of an earlier step, which nobody had waited for either.
        require(
            got.count("unready") == 0,
            f"After the steps without jit, {output} of the last of them was still being computed:"
            " the clock stopped before it was ready.",
        )
        if 0.8 * cost <= got.eager_seconds <= 1.5 * cost:
            return
        # On a very busy machine even asking for the work may last: once more.


@item(
    "Without jit the clock waits for all new parameters",
    points=1,
    hint="jax.block_until_ready takes a whole pytree. Which one do you give it?",
    seconds=60,
    timing=True,
)
def test_eager_waits_for_the_parameters(student, rng):
    require_waiting(student, rng, "first_params", "one of the new parameters")
    require_waiting(student, rng, "last_params", "one of the new parameters")


@item(
    "Without jit the clock waits for the new optimizer state",
    points=0.5,
    hint="The parameters may be ready and the optimizer state not yet.",
    seconds=60,
    timing=True,
)
def test_eager_waits_for_the_state(student, rng):
    require_waiting(student, rng, "opt_state", "the new optimizer state")


@item(
    "Without jit the clock waits for the loss",
    points=0.5,
    hint="The parameters may be ready and the loss not yet.",
    seconds=60,
    timing=True,
)
def test_eager_waits_for_the_loss(student, rng):
    require_waiting(student, rng, "loss", "the loss")
    settle_more_steps(student, rng, "eager_seconds")


def settle_more_steps(student, rng, name):
    """Checks that both of two steps are waited for, not only one, in the time `name`.

    A step computes as long with jit as without. So on a machine of any load both times are about
    equal, while that of one step is half of it.
    """
    cost, n_steps = 0.15, 2

    def measure():
        return computing(student, rng, "loss", eager=cost, jit=cost, n_steps=n_steps)

    def check(got):
        seconds = getattr(got, name)
        # Without a warm-up, which another item tells, the cheap call is one of the eager steps.
        costly = min(n_steps, got.count("eager") - 1) if name == "eager_seconds" else n_steps
        sentence = (
            f"{name} is {seconds:.3f}, but {costly} of the steps compute for about"
            f" {costly * cost:.2f} s: the clock stopped before all of them were ready."
        )
        require(seconds >= ready(got, costly * cost), sentence)
        if seconds < 0.7 * costly / n_steps * max(got.eager_seconds, got.jit_seconds):
            raise TooLong(sentence)

    settle(student, "two steps", measure, check)


def settle_long_steps(student, rng, check):
    """Checks the benchmark of a jitted step that computes for half a second."""

    def measure():
        return computing(student, rng, "loss", eager=0.0, jit=0.5)

    settle(student, "long steps", measure, check)


@item(
    "With jit the clock waits for the steps",
    points=1,
    hint="A jitted call returns at once as well.",
    seconds=60,
    timing=True,
)
def test_jitted_steps_are_waited_for(student, rng):
    def check(got):
        require(
            got.jit_seconds >= ready(got, 0.5),
            f"jit_seconds is {got.jit_seconds:.3f}, but the step computes for about 0.5 s: the"
            " clock stopped before it was ready.",
        )
        if got.seconds("pending") > READY * 0.5:  # the time is that of a step before, or chance
            raise TooLong("When the benchmark returned, a jitted step was still being computed.")

    settle_long_steps(student, rng, check)
    settle_more_steps(student, rng, "jit_seconds")


@item(
    "The first jitted call is waited for",
    points=0.5,
    hint="What has the first call done when it returns: compiled, or executed as well?",
    seconds=60,
    timing=True,
)
def test_first_call_is_waited_for(student, rng):
    shares = []

    def check(got):
        sentence = (
            f"first_call_seconds is {got.first_call_seconds:.3f}, but the step computes for about"
            " 0.5 s besides compiling: the clock stopped before it was ready."
        )
        require(got.first_call_seconds >= ready(got, 0.5), sentence)
        # On a busy machine compiling alone can take as long, but then so does the other step.
        shares.append(got.first_call_seconds / max(got.jit_seconds, ready(got, 0.5) / READY))
        if shares[0] < 0.9 and (len(shares) < 3 or np.median(shares) < 0.5):
            raise TooLong(sentence)

    settle_long_steps(student, rng, check)
