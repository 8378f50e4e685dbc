"""Exercise 5: gradient clipping, and the gradient norm over training.

One unlucky batch can have a gradient many times longer than the others, and a plain optimizer
follows it. Clipping by the GLOBAL norm shortens such a gradient and keeps its direction: all leaves
of the pytree are scaled by one common factor, so that the norm over all of them together is at most
``clip_norm``; a gradient that is short enough already is left alone.

In Optax an optimizer is a pair of pure functions, ``init`` and ``update``, and
``optax.chain(first, second)`` hands the output of the first to the second. So clipping is one more
link of a chain, it works under ``jax.jit``, and the order of the links matters. JAX gives you the
gradient as a plain pytree: measuring its norm on the way costs one line.

Your task: compose ``optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))``, train with and
without clipping, and plot the gradient norm over training to see the effect.

What to write
-------------

``make_optimizer(clip_norm=1.0, learning_rate=1e-3)``
    An ``optax.GradientTransformation`` that first clips by the global norm and then applies Adam
    with Optax's default settings. ``clip_norm`` is a number above 0, or ``None`` for Adam alone. It
    must work for gradients of any pytree, with ``jax.jit`` and without, and must not remember
    anything outside its state.

``train_with_norms(key, params, optimizer, data, n_steps=200, batch_size=128)``
    Trains from ``params`` with the given optimizer, which may be any of Optax's: some need the
    current parameters in ``update``, and most have a state to carry. Every step takes a random
    batch of exactly ``batch_size`` examples of the training split (never of the test split). You
    may draw with or without replacement; if you go through the data in epochs, take a new order in
    each. ``n_steps`` may be anything: none, fewer than an epoch, or many epochs. Compile the step
    once, not once a step. The same ``key``, raw or typed, gives the same run; other keys give other
    batches. ``params``, ``data`` and whatever else the caller passed stay as they were: change
    nothing in place, and donate nothing.

    Returns ``Run(params, losses, grad_norms)``: the parameters after the last update, and for each
    step the loss and the global norm of the RAW gradient, before any clipping. Both belong to the
    parameters before that step's update and to that step's batch. Both are arrays (of JAX or NumPy,
    not lists) of shape ``(n_steps,)``.

``plot_grad_norms(unclipped, clipped, clip_norm=1.0)``
    A ``matplotlib.figure.Figure`` that shows both series of norms over the steps, as curves of the
    values as they are (a logarithmic axis is fine). The series may differ in length. Use one Axes,
    or two. Draw a horizontal line at ``clip_norm``, label the axes, and add a legend that tells the
    series apart, in any language; where a label says clipped or unclipped, norm or step, it has to
    be on the right one. The function opens no window, leaves no figure open in pyplot, and leaves
    ``matplotlib.rcParams`` as they were.

Losses, norms, updates and parameters are compared to a few parts in a thousand or better, and the
plotted values to a part in a million.

Run ``python clipping.py`` to see the experiment: it prints both runs side by side and saves the
plot as ``grad_norms.png``. Run ``make grade X=clipping`` to grade your work, and
``python -m grader hint clipping`` when you are stuck.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from matplotlib.figure import Figure
from mnist_mlp import Data, Params, accuracy, init_params, load_mnist, loss_fn


class Run(NamedTuple):
    """What ``train_with_norms`` returns."""

    params: Params
    """The parameters after the last update."""
    losses: jax.Array
    """``(n_steps,)``: the loss of each step's batch, before that step's update."""
    grad_norms: jax.Array
    """``(n_steps,)``: the global norm of each step's raw gradient, before that step's update."""


def make_optimizer(
    clip_norm: float | None = 1.0, learning_rate: float = 1e-3
) -> optax.GradientTransformation:
    """Build Adam behind clipping by the global norm.

    Args:
        clip_norm: the largest global norm that reaches Adam, above 0; ``None`` for no clipping.
        learning_rate: Adam's learning rate.

    Returns:
        The optimizer: clipping first, then Adam; Adam alone where ``clip_norm`` is ``None``.
    """
    ### BEGIN SOLUTION
    adam = optax.adam(learning_rate)
    if clip_norm is None:
        return adam
    return optax.chain(optax.clip_by_global_norm(clip_norm), adam)
    ### END SOLUTION


def train_with_norms(
    key: jax.Array,
    params: Params,
    optimizer: optax.GradientTransformation,
    data: Data,
    n_steps: int = 200,
    batch_size: int = 128,
) -> Run:
    """Train on random batches and record the loss and the raw gradient norm of every step.

    Args:
        key: decides the batches; raw (``jax.random.PRNGKey``) or typed (``jax.random.key``).
        params: the parameters to start from; left unchanged.
        optimizer: any optimizer of Optax's.
        data: the data; only the training split is trained on.
        n_steps: how many updates to make, 0 or more.
        batch_size: how many examples each batch has.

    Returns:
        ``Run(params, losses, grad_norms)``; losses and norms have shape ``(n_steps,)``.
    """
    ### BEGIN SOLUTION

    def step(state, batch):
        params, opt_state = state
        loss, grads = jax.value_and_grad(loss_fn)(params, data.x_train[batch], data.y_train[batch])
        updates, opt_state = optimizer.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        return (params, opt_state), (loss, optax.tree.norm(grads))

    batches = jax.random.randint(key, (n_steps, batch_size), 0, len(data.x_train))
    start = params, optimizer.init(params)
    # `scan` compiles its body once, however many steps there are.
    (params, _), (losses, grad_norms) = jax.lax.scan(step, start, batches)
    return Run(params, losses, grad_norms)
    ### END SOLUTION


def plot_grad_norms(unclipped: jax.Array, clipped: jax.Array, clip_norm: float = 1.0) -> Figure:
    """Draw the gradient norms of two runs, and the norm at which the second was clipped.

    Args:
        unclipped: ``(steps,)`` raw gradient norms of a run without clipping.
        clipped: ``(steps,)`` raw gradient norms of a run with clipping; another length is fine.
        clip_norm: where to draw the horizontal line.

    Returns:
        The figure, unknown to pyplot; save it with ``figure.savefig``.
    """
    ### BEGIN SOLUTION
    # A Figure made directly, not by pyplot, opens no window and needs no closing.
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(unclipped, label="unclipped")
    axes.plot(clipped, label="clipped")
    axes.axhline(clip_norm, color="black", linestyle="--", label=f"clip_norm = {clip_norm:g}")
    axes.set(xlabel="step", ylabel="global norm of the raw gradient", yscale="log")
    axes.legend()
    return figure
    ### END SOLUTION


if __name__ == "__main__":
    data = load_mnist()
    params_key, batches_key = jax.random.split(jax.random.PRNGKey(0))
    params = init_params(params_key)

    print("run        first loss  last loss  median norm  largest norm  above 1.0  test accuracy")
    runs = {}
    for name, clip_norm in (("unclipped", None), ("clipped", 1.0)):
        runs[name] = run = train_with_norms(batches_key, params, make_optimizer(clip_norm), data)
        print(
            f"{name:9}  {run.losses[0]:10.3f}  {run.losses[-1]:9.3f}"
            f"  {jnp.median(run.grad_norms):11.3f}  {run.grad_norms.max():12.3f}"
            f"  {(run.grad_norms > 1.0).mean():9.1%}"
            f"  {accuracy(run.params, data.x_test, data.y_test):13.1%}"
        )

    figure = plot_grad_norms(runs["unclipped"].grad_norms, runs["clipped"].grad_norms)
    figure.savefig("grad_norms.png", dpi=150)
    print("The norms over training are in grad_norms.png.")
