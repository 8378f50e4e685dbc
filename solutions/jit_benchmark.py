"""Exercise 4: What jax.jit buys, and what it costs.

Benchmark the training step with and without `jax.jit`: time 100 steps of each. How large is the
speedup on your hardware? What does the compilation in the first call cost?

Why it matters in JAX. Without `jit` every `jnp` operation is sent to the device on its own, and
Python stands between any two of them. With `jit` Python runs once, to record the step; XLA compiles
the record, and from then on a step is one call. The first call pays for that, so a benchmark must
keep it apart. And JAX is asynchronous: a call returns as soon as the work is queued, its results
are promises. A clock that stops there has measured how fast Python can ask, not how fast the device
can answer. Only `jax.block_until_ready` (or reading the values) makes it wait.

What to write
-------------
`make_train_step(optimizer)`
    Returns a function `train_step(params, opt_state, x, y)` that makes one step of training and
    returns `(params, opt_state, loss)`: the new parameters, the new optimizer state, and the loss
    of `mnist_mlp.loss_fn` on this batch at the parameters BEFORE the update. `optimizer` is any
    optimizer of Optax. Some of them (adamw) need to see the parameters as well: give
    `optimizer.update` all three of gradients, state and `params`. The step is pure: what it returns
    depends on its four arguments alone, and it leaves those as they were. It must be possible to
    put it under `jax.jit`, but there is no `jit` around it and none inside: that is what the
    benchmark adds.

`benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100)`
    Times `train_step`, which comes without `jit`, both ways and returns a `Benchmark`:

    eager_seconds        `n_steps` calls of `train_step` itself, as it came, after a warm-up that is
                         not counted (the first calls compile each operation once). JAX stays as it
                         is: not under `jax.disable_jit`.
    jit_seconds          `n_steps` calls of ONE jitted function that returns everything that
                         `train_step` returns; compilation is not in it.
    first_call_seconds   the first call of the jitted function: compilation and execution.
    compile_seconds      `first_call_seconds` less one steady jitted step, never below 0.
    speedup              `eager_seconds / jit_seconds`, not rounded.

    All of it is elapsed time in seconds as a clock on the wall shows it, for all `n_steps` steps
    together; every step is really made and measured, nothing is extrapolated from fewer. Every
    interval ends only when ALL its outputs are ready: new parameters, new state and loss. (The
    outputs of one jitted call come together, so there it is enough to wait for any one output of
    the last call.) The steps may go on from each other's results or always start from the same
    ones, whichever you like. Nothing of the caller's is changed, deleted or donated.

    `train_step` may be any function of this shape, not only the lesson's, slow or fast, and may be
    called any number of times; `n_steps` is any int from 1 on.

How it is graded
----------------
Your benchmark is given steps whose true cost is known, because they sleep or compute for a known
time: when they are called, when they are traced, or in a single output. Each time that it reports
must then be the true one; what a busy machine adds on top is allowed for and measured again. Your
step is compared with a float64 computation, to about 1e-4 of its size, so the order of summation
does not matter.

    python jit_benchmark.py             prints the benchmark of the lesson's step on this machine
    make grade X=jit_benchmark          grades this file
    python -m grader hint jit_benchmark
"""

import time
from typing import NamedTuple

import jax
import optax
from mnist_mlp import init_params, load_mnist, loss_fn


class Benchmark(NamedTuple):
    """What `benchmark_train_step` measured: elapsed seconds, and a ratio of two of them."""

    eager_seconds: float
    """All `n_steps` steps without jit, after a warm-up."""
    jit_seconds: float
    """All `n_steps` steps with jit, without compilation."""
    first_call_seconds: float
    """The first jitted call: compilation and execution."""
    compile_seconds: float
    """The first jitted call less one steady jitted step, never below 0."""
    speedup: float
    """`eager_seconds / jit_seconds`."""


def make_train_step(optimizer):
    """Make a training step for an optimizer, without jit.

    Args:
        optimizer: an `optax.GradientTransformation`.

    Returns:
        A pure function `train_step(params, opt_state, x, y) -> (params, opt_state, loss)`, where
        `loss` is the scalar `loss_fn(params, x, y)` before the update.
    """

    ### BEGIN SOLUTION
    def train_step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return train_step
    ### END SOLUTION


def benchmark_train_step(train_step, params, opt_state, x, y, n_steps=100):
    """Time `n_steps` steps without and with jit, and the first jitted call.

    Args:
        train_step: a function `(params, opt_state, x, y) -> (params, opt_state, loss)`, not jitted.
        params, opt_state, x, y: what the first step gets.
        n_steps: how many steps to time each way, an int >= 1.

    Returns:
        A `Benchmark`.
    """

    ### BEGIN SOLUTION
    def seconds(step, count):
        """Elapsed seconds of `count` steps, each going on from the one before it."""
        state, losses = (params, opt_state), []
        start = time.perf_counter()
        for _ in range(count):
            *state, loss = step(*state, x, y)
            losses.append(loss)
        # The clock may stop only now: until then the results are no more than promises.
        jax.block_until_ready((state, losses))
        return time.perf_counter() - start

    seconds(train_step, 1)
    eager_seconds = seconds(train_step, n_steps)

    jitted_step = jax.jit(train_step)
    first_call_seconds = seconds(jitted_step, 1)
    jit_seconds = seconds(jitted_step, n_steps)

    return Benchmark(
        eager_seconds=eager_seconds,
        jit_seconds=jit_seconds,
        first_call_seconds=first_call_seconds,
        compile_seconds=max(0.0, first_call_seconds - jit_seconds / n_steps),
        speedup=eager_seconds / jit_seconds,
    )
    ### END SOLUTION


def main():
    """Benchmark the lesson's step, Adam on batches of 128 images, and print the result."""
    data = load_mnist()
    optimizer = optax.adam(1e-3)
    params = init_params(jax.random.PRNGKey(0))
    x, y = data.x_train[:128], data.y_train[:128]

    n_steps = 100
    result = benchmark_train_step(
        make_train_step(optimizer), params, optimizer.init(params), x, y, n_steps
    )

    device = jax.devices()[0]
    print(f"{n_steps} training steps, batches of {len(x)}, on {device.platform}: {device}\n")
    print("                    all steps      one step")
    for name, seconds in (("without jit", result.eager_seconds), ("with jit", result.jit_seconds)):
        print(f"{name:<16}{seconds:>10.3f} s{1000 * seconds / n_steps:>11.3f} ms")
    print(f"\nSpeedup           {result.speedup:>8.1f} x")
    print(f"First call        {result.first_call_seconds:>8.3f} s")
    print(f"  of it compiling {result.compile_seconds:>8.3f} s")
    saved = (result.eager_seconds - result.jit_seconds) / n_steps
    if saved > 0:
        print(f"\nCompiling has paid for itself after {result.compile_seconds / saved:.0f} steps.")


if __name__ == "__main__":
    main()
