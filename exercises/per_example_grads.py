"""Exercise 2: Per-example gradients with jax.vmap.

A training step needs one gradient, the mean over its batch. Here you look behind the mean: what
does every single image ask of the parameters, how loudly does it ask, and which ask loudest?

Why it matters in JAX. `jax.grad` differentiates a function of one scalar result, so calling it on a
batch gives the mean's gradient and the single ones are gone. The obvious way back is a loop over
images, and a loop is what accelerators are worst at. In JAX you write the function for ONE example
and let `jax.vmap` turn it into a function of many: the batch becomes one more axis of every
operation, and the program stays as short as it was. Per-example gradients drive differentially
private training, importance sampling and the search for wrong labels.

What you are given: `loss_fn(params, x, y)` of `mnist_mlp`, which takes a single example as well as
a batch. `params` is the network's pytree

    {'layer1': {'w': (n0, n1), 'b': (n1,)},
     'layer2': {'w': (n1, n2), 'b': (n2,)},
     'layer3': {'w': (n2, n3), 'b': (n3,)}}

784-256-128-10 in the lesson, but nothing you write may depend on these widths or on a batch size:
it works for every `params` that `mnist_mlp.forward` takes, and for 1 image as for 1,000. `x` is
`(batch, n0)`, `y` holds `batch` integer labels.

What to write
-------------
`per_example_grads(params, x, y)`
    A pytree with the structure of `params` in which every leaf has gained a leading batch axis: a
    `w` of shape `(n0, n1)` becomes `(batch, n0, n1)`. Entry `i` of every leaf is the gradient of
    `loss_fn` at example `i` alone, as if the others did not exist. A leaf has the dtype that it has
    in `params`. There is no loop over examples: not in Python, not by `jax.lax.map`, `scan` or
    their kin. The program that JAX traces has the same size for 8 examples and for 800. It works
    under `jax.jit`.

`grad_norms(params, x, y)`
    `(batch,)`: for each example the global L2 norm of its gradient, that is, the square root of the
    sum of the squares of all its entries, over ALL leaves, weights and biases of all layers. It
    need not work under `jax.jit`.

`largest_gradients(params, x, y, k)`
    A tuple `(indices, norms)`, each of shape `(k,)`: the positions in the batch of the `k` examples
    with the largest gradient norms, and these norms, largest first. `k` is an int, 1 <= k <= batch.
    The indices are integers, counted from 0 and all different; examples with equal norms may come
    in any order. It need not work under `jax.jit`.

`EXPLANATION`
    A string: which examples have the largest gradients, and why? Run this file, look at what it
    prints, and write what you see and where in the formula of the gradient it comes from. A person
    reads it (4 of the 20 points); the automatic grading only asks that it is not blank.

No function changes, deletes or donates what its caller passed in. Arrays in results are `jax.Array`
or NumPy arrays; lists of numbers are not arrays.

How it is graded
----------------
Gradients and norms are compared with a float64 computation, to about 1e-4 of their size (to a few
hundredths where `params` are bfloat16), so the order of summation does not matter. Whether there
is a loop is decided by counting operations, not by a clock.

    python per_example_grads.py         prints the norms of 32 images and draws the extremes
    make grade X=per_example_grads      grades this file
    python -m grader hint per_example_grads
"""

import textwrap

import jax
import jax.numpy as jnp
import optax
from mnist_mlp import forward, load_mnist, loss_fn, train

EXPLANATION = ""


def per_example_grads(params, x, y):
    """Compute the gradient of `loss_fn` in `params` at each example alone, without a loop.

    Args:
        params: any pytree that `mnist_mlp.forward` takes.
        x: examples, `(batch, features)`, float32.
        y: integer labels, `(batch,)`.

    Returns:
        A pytree like `params`, every leaf with a leading axis of length `batch` and the dtype that
        it has in `params`.
    """
    raise NotImplementedError("per_example_grads is not written yet")


def grad_norms(params, x, y):
    """Compute the global L2 norm of each example's gradient, over all leaves.

    Args:
        params, x, y: as for `per_example_grads`.

    Returns:
        The norms, `(batch,)`, floating point, never negative.
    """
    raise NotImplementedError("grad_norms is not written yet")


def largest_gradients(params, x, y, k):
    """Find the `k` examples with the largest gradient norms.

    Args:
        params, x, y: as for `per_example_grads`.
        k: how many, a Python int, 1 <= k <= batch.

    Returns:
        `(indices, norms)`, each `(k,)`: distinct integer positions in the batch and the norms
        there, largest norm first.
    """
    raise NotImplementedError("largest_gradients is not written yet")


def draw(image):
    """Draw an image of 784 pixels in [0, 1] as 14 lines of text."""
    rows = image.reshape(14, 2, 28).mean(axis=1)
    return ["".join(" .:*#"[int(4.99 * pixel)] for pixel in row) for row in rows.tolist()]


def main():
    """Train the lesson's network for a moment and rank 32 unseen images by gradient norm."""
    data = load_mnist()
    params, _ = train(jax.random.PRNGKey(0), data, optax.adam(1e-3), n_epochs=3)
    x, y = data.x_test[:32], data.y_test[:32]
    indices, norms = largest_gradients(params, x, y, k=32)
    probabilities = jax.nn.softmax(forward(params, x))

    print("32 test images after three epochs, largest gradient first\n")
    print("image      norm      loss  label  predicted  p(label)")
    for index, norm in zip(indices.tolist(), norms.tolist(), strict=True):
        label, predicted = int(y[index]), int(probabilities[index].argmax())
        loss = float(loss_fn(params, x[index], y[index]))
        mark = "  <- wrong" if predicted != label else ""
        print(
            f"{index:>5}  {norm:>8.4f}  {loss:>8.4f}  {label:>5}  {predicted:>9}"
            f"  {float(probabilities[index, label]):>8.4f}{mark}"
        )

    print("\nThe three largest, then the three smallest:\n")
    for chosen in (indices[:3], indices[-3:]):
        for lines in zip(*(draw(image) for image in x[jnp.asarray(chosen)]), strict=True):
            print("   ".join(lines))
    print("\nWhy?\n")
    for paragraph in (EXPLANATION or "Write what you see into EXPLANATION.").splitlines():
        print(textwrap.fill(paragraph, 90))


if __name__ == "__main__":
    main()
