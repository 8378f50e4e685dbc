"""What students do not see of the tests of generic_mlp."""

import numpy as np

from grader.checks import array, close, require, same
from grader.plugin import item
from grader.values import jit, key, make, related_keys, vjp, vmap
from tests import oracles
from tests.mistakes import generic_mlp as mistakes
from tests.visible.test_generic_mlp import (
    correlation,
    positive_logits,
    require_depth,
    require_gradients,
    require_he,
    require_independent,
    require_logits,
    require_structure,
    weights_of_logits,
)


def near_identity(rng, depth, width):
    """A deep network through which a signal comes alive, so that every layer's place shows."""
    params = oracles.random_params(rng, (width,) * (depth + 1))
    for layer in params.values():
        layer["w"] = (np.eye(width) + 0.15 * layer["w"]).astype(np.float32)
        layer["b"] = (0.3 * layer["b"]).astype(np.float32)
    return params


@item(
    "num_layers counts deep, thin and square networks",
    points=1,
    hint="Neither the widths nor the names' order as strings say how many layers there are.",
)
def test_num_layers_of_deep_and_thin_networks(student, rng):
    for sizes in ((3,) * 13, (6,) * 5, (1, 1, 1), (2, 3) * 12, (1,) * 102):
        require_depth(student.num_layers(oracles.random_params(rng, sizes)), len(sizes) - 1)
    params = oracles.random_params(rng, (4, 3, 2, 3, 2), shuffle=False)
    depths = student.run("generic_mlp.depths_while_growing", params)
    require(isinstance(depths, list) and len(depths) == 4, "num_layers has not answered.")
    for depth, answer in enumerate(depths, start=1):
        require_depth(answer, depth)


@item(
    "Twenty-three and a hundred and one layers run in the order of their numbers",
    points=1,
    hint="Make the names from numbers, rather than numbers from a part of the names.",
)
def test_a_hundred_layers_run_in_numeric_order(student, rng):
    x = rng.uniform(0.5, 1.5, size=(6, 7)).astype(np.float32)
    for depth in (23, 101):
        params = positive_logits(near_identity(rng, depth, 7), x)
        known = mistakes.of_forward(params, x)
        what = f"mlp_forward of {depth} layers"
        require_logits(student.mlp_forward(params, x), params, x, what, known)


@item(
    "Layers and batches of one and the same size keep their axes apart",
    points=0.5,
    hint="Is a decision taken by a shape, or by equal values, that the layer's number should take?",
)
def test_equal_sizes_are_not_confused(student, rng):
    x = rng.normal(size=(10, 10)).astype(np.float32)
    params = oracles.random_params(rng, (10,) * 5)
    params["layer2"]["w"] = params["layer4"]["w"].copy()
    params = positive_logits(params, x)
    known = mistakes.of_forward(params, x)
    require_logits(student.mlp_forward(params, x), params, x, "mlp_forward", known)
    tied = {**params, "layer2": params["layer4"]}
    logits = student.mlp_forward(make("generic_mlp.tied", params, "layer2", "layer4"), x)
    require_logits(logits, tied, x, "mlp_forward, two of whose layers are one object,")


@item(
    "The ReLU is exact for values of every size",
    points=1,
    hint="A ReLU has no slope on one side, slope 1 on the other, and neither an end nor a bend.",
)
def test_relu_is_exact_at_any_scale(student, rng):
    params = oracles.random_params(rng, (5, 7, 4))
    x = rng.normal(size=(6, 5)).astype(np.float32)
    silent = {name: dict(layer) for name, layer in params.items()}
    silent["layer1"]["b"] = params["layer1"]["b"] - np.float32(1e6)
    known = mistakes.of_forward(silent, x)
    what = "mlp_forward, with hidden units far below zero,"
    require_logits(student.mlp_forward(silent, x), silent, x, what, known)
    for name in params:
        params[name]["b"] = np.zeros_like(params[name]["b"])
    for scale, size in ((1e-5, "tiny"), (1e12, "huge")):
        scaled = (scale * x).astype(np.float32)
        known = mistakes.of_forward(params, scaled)
        what = f"mlp_forward, with {size} values and no biases,"
        require_logits(student.mlp_forward(params, scaled), params, scaled, what, known)


@item(
    "Axes of size one are kept",
    points=0.5,
    hint="Which axes does a squeeze() without an axis argument remove?",
)
def test_axes_of_size_one_are_kept(student, rng):
    params = oracles.random_params(rng, (5, 1, 1))
    for shape in ((1, 5), (5,)):
        x = rng.normal(size=shape).astype(np.float32)
        raised = positive_logits(params, x)
        raised["layer1"] = {**params["layer1"], "b": np.ones(1, np.float32)}
        raised = positive_logits(raised, x)
        what = f"mlp_forward, of one output, for x of shape {shape}"
        require_logits(student.mlp_forward(raised, x), raised, x, what)


@item(
    "Every call uses its own arguments",
    points=0.5,
    hint="Is something remembered from an earlier call: a compiled closure, a cache, a global?",
)
def test_every_call_uses_its_own_arguments(student, rng):
    first, second = (oracles.random_params(rng, (5, 7, 4)) for _ in range(2))
    for number, params in enumerate((first, second, first)):
        x = rng.normal(size=(6, 5)).astype(np.float32)
        params = positive_logits(params, x)
        what = f"mlp_forward, called for the {('first', 'second', 'third')[number]} time,"
        require_logits(student.mlp_forward(params, x), params, x, what)


@item(
    "Gradients of twelve layers under jit, in params and in x",
    points=0.5,
    hint="Where is the chain of derivatives cut, or bent, on the way from the logits to layer1?",
)
def test_gradients_of_twelve_layers_under_jit(student, rng):
    params, x = oracles.clear_of_kinks(rng, (5, *(7,) * 11, 4), 6)
    cotangent = weights_of_logits(6, 4)
    want, want_x = oracles.pullback(params, x, cotangent)
    got = student.under(jit(), vjp(cotangent, argnums=0)).mlp_forward(params, x)
    require_gradients(got, want, "the gradient of 12 layers")
    got = student.under(jit(), vjp(cotangent, argnums=1)).mlp_forward(params, x)
    array(got, shape=(6, 5), dtype="float32", what="the gradient in x")
    atol = 1e-4 * np.max(np.abs(want_x))
    close(got, want_x, rtol=1e-4, atol=atol, what="the gradient in x")


@item(
    "vmap of grad gives each example's gradient",
    points=0.5,
    hint="Under vmap each call sees one example: a vector, not a batch.",
)
def test_gradients_of_each_example(student, rng):
    params, x = oracles.clear_of_kinks(rng, (5, 7, 7, 4), 6)
    cotangent = weights_of_logits(4)
    each = [oracles.pullback(params, example, cotangent)[0] for example in x]
    want = oracles.tree_map(lambda *leaves: np.stack(leaves), *each)
    transforms = (jit(), vmap(in_axes=(None, 0)), vjp(cotangent, argnums=0))
    got = student.under(*transforms).mlp_forward(params, x)
    require_gradients(got, want, "the gradient of each example", leading=(6,))


@item(
    "Stacked networks each take their own example, jitted too",
    points=0.5,
    hint="Under vmap over both arguments a call sees one network and one example.",
)
def test_stacked_networks_take_their_own_examples(student, rng):
    sizes = (5, 7, 7, 4)
    x = rng.normal(size=(6, 5)).astype(np.float32)
    networks = [positive_logits(oracles.random_params(rng, sizes), row) for row in x]
    stacked = oracles.tree_map(lambda *leaves: np.stack(leaves), *networks)
    got = student.under(jit(), vmap(in_axes=(0, 0))).mlp_forward(stacked, x)
    array(got, shape=(6, 4), dtype="float32", what="vmap over networks and examples")
    for row, params, example in zip(got, networks, x, strict=True):
        require_logits(row, params, example, "vmap over networks and examples")


@item(
    "sizes may be any sequence of ints",
    points=0.5,
    hint="What can a tuple do that a list or a range cannot, and the other way round?",
)
def test_sizes_may_be_any_sequence(student, rng):
    """Four float32 draws are all exactly 0 with probability below 2**-80."""
    require_structure(student.init_mlp(key(rng), [3, 9, 6, 3]), (3, 9, 6, 3))
    require("1" not in student.changed, "init_mlp changed the list of sizes that it was given.")
    widths = make("generic_mlp.widths", 9, 0, -3)
    require_structure(student.init_mlp(key(rng), widths), (9, 6, 3))
    # No layer of one weight has a spread of its own to be divided by, or a mean to be taken off.
    thin = require_structure(student.init_mlp(key(rng), (1,) * 5), (1,) * 5)
    require(any(layer["w"].any() for layer in thin.values()), "Layers of one weight are all 0.")


@item(
    "The variance follows the layer's own input width, however narrow or wide",
    points=1,
    hint="Which width counts for the variance of a layer that widens, and of one that narrows?",
)
def test_every_layer_has_its_own_variance(student, rng):
    """Bands of 6.9 standard deviations (variance, normal weights, n = 60,000) and 7 (mean).

    False alarm: below 1e-10 in all, and less for truncated or uniform weights, which vary less.
    """
    sizes = (3, 20000, 3)
    params = require_structure(student.init_mlp(key(rng), sizes), sizes)
    for number in (1, 2):
        require_he(params[f"layer{number}"]["w"], f"layer{number}")


@item(
    "Weights are drawn one by one from a normal, truncated or uniform distribution",
    points=0.5,
    hint="Plot a histogram of w, then its rows and columns: what is shared, what is cut off?",
)
def test_weights_are_single_draws(student, rng):
    """On 400 by 300 weights; normal ones vary most.

    In standard deviations, n = 120,000: kurtosis 3 lies 28 below 3.4 and a uniform draw's 1.8
    further above 1.6, skewness 0 lies 14 from 0.1, a correlation over 300 or 400 lies 8.6 or more
    from 0.5 (124,650 pairs, 1e-17 each), their mean square more than 50 from half and twice what
    chance gives.
    False alarm: below 1e-11 in all.
    """
    sizes = (400, 300, 200)
    params = require_structure(student.init_mlp(key(rng), sizes), sizes)
    w = params["layer1"]["w"].astype(np.float64)
    require(np.ptp(w) > 0, "The weights of a layer are all the same number.")
    z = (w - w.mean()) / w.std()
    kurtosis, skewness = float((z**4).mean()), float((z**3).mean())
    require(
        1.6 < kurtosis < 3.4 and abs(skewness) < 0.1,
        f"The weights' distribution is none of those allowed: kurtosis {kurtosis:.2f} (a normal one"
        f" has 3, a uniform one 1.8), skewness {skewness:.2f} (both have 0).",
    )
    for rows, name in ((z, "rows"), (z.T, "columns")):
        spread = rows.std(axis=1, keepdims=True)
        require(spread.min() > 0, f"Some {name} of w hold one number throughout.")
        unit = (rows - rows.mean(axis=1, keepdims=True)) / spread
        related = (unit @ unit.T / rows.shape[1])[np.triu_indices(len(rows), k=1)]
        chance = float((related**2).mean()) * rows.shape[1]
        require(
            np.abs(related).max() < 0.5 and 0.5 < chance < 2,
            f"The {name} of w are not independent of each other.",
        )


@item(
    "Typed keys serve as well as raw ones",
    points=0.5,
    hint="jax.random.key(0) is no array of numbers: leave what is in a key to jax.random.",
)
def test_typed_keys(student, rng):
    """Correlations against 8 standard deviations as in the visible test: below 1e-14."""
    sizes = (40, 40, 40, 40)
    params = require_structure(student.init_mlp(key(rng, typed=True), sizes), sizes)
    layers = [params[name]["w"] for name in ("layer1", "layer2", "layer3")]
    require_independent(layers, 0.2, "The weights of two layers, drawn from a typed key,")


@item(
    "The key, and nothing else, decides",
    points=0.5,
    hint="Call init_mlp twice with one key, then with another. What should be equal?",
)
def test_the_key_decides(student, rng):
    """Correlations of 1,600 pairs against 0.2, 8 standard deviations: below 1e-14."""
    sizes = (40, 40, 40, 40)
    one, *others = related_keys(rng)
    first, *different, again = (
        require_structure(student.init_mlp(k, sizes), sizes) for k in (one, *others, one)
    )
    what = "init_mlp, called again with the same key, gives other numbers: it"
    same(again, first, what=what)
    for name in first:
        for other in different:
            require(
                abs(correlation(first[name]["w"], other[name]["w"])) < 0.2,
                f"Two different keys give related weights in {name}.",
            )


@item(
    "Twenty-four layers are all drawn alike, and independently",
    points=1,
    hint="Is there a subkey for each of them, or does some number come round again?",
)
def test_many_layers_are_independent(student, rng):
    """Correlations of 1,600 pairs against 0.2, 8 standard deviations; 276 pairs, each twice.

    Variances within 40%, 11 standard deviations (normal weights). False alarm: below 1e-11 in all.
    """
    sizes = (40,) * 25
    params = require_structure(student.init_mlp(key(rng), sizes), sizes)
    names = [f"layer{number}" for number in range(1, 25)]
    require_independent([params[name]["w"] for name in names], 0.2, "The weights of two layers")
    off = [name for name in names if abs(params[name]["w"].var() * 20 - 1) > 0.4]
    require(not off, f"The variance of w is far from 2 / fan_in in {len(off)} of 24 layers.")
    off = [name for name in names if np.any(params[name]["b"] != 0)]
    require(not off, f"b is not all zero in {len(off)} of 24 layers.")
