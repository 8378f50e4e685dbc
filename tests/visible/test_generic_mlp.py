"""What students see of the tests of generic_mlp."""

from itertools import pairwise

import numpy as np

from grader.checks import agrees, array, close, integer, require, tree
from grader.plugin import Exercise, item
from grader.values import jit, key, vjp, vmap
from tests import oracles
from tests.mistakes import generic_mlp as mistakes

EXERCISE = Exercise(
    order=3,
    title="An MLP of any depth",
    hints=(
        "How deep a network is can be read off the structure of params: look at"
        " jax.tree.leaves(params) for the lesson's network, and count what belongs to one layer.",
        "Let a loop count the layers and make each name from its number. Only one of the layers is"
        " not followed by a ReLU: how does the loop know that it has come to it?",
        "For init_mlp take neighbouring widths in pairs, one subkey a pair. A standard normal draw"
        " has variance 1: what must it be multiplied by to have the variance that He asks for?",
    ),
)

FLOAT32 = 1e-4
"""How far right float32 results may be from float64 ones, as a share of the largest."""


def require_logits(got, params, x, what, known=()):
    """Compares with the float64 logits of `params` at `x`."""
    want = oracles.forward(params, x)
    array(got, shape=want.shape, dtype="float32", what=what)
    atol = FLOAT32 * np.max(np.abs(want))
    close(got, want, rtol=FLOAT32, atol=atol, what=what, mistakes=known)


def require_gradients(got, want, what, leading=()):
    """Compares gradients like `params`, each leaf by its own size, with little room to cancel."""
    like = {
        name: {
            part: np.empty(leaf.shape[len(leading) :], np.float32) for part, leaf in layer.items()
        }
        for name, layer in want.items()
    }
    got = tree(got, like, what=what, leading=leading)
    largest = max(np.max(np.abs(leaf)) for leaf in oracles.tree_leaves(want))
    for name, layer in want.items():
        for part, leaf in layer.items():
            atol = FLOAT32 * (np.max(np.abs(leaf)) + 0.01 * largest)
            place = f"{what}['{name}']['{part}']"
            require(
                np.any(got[name][part]) or not np.any(leaf),
                f"{place} is zero throughout: no derivative gets there. Is the chain cut on"
                " its way, by a stop_gradient, a rounding or a value taken out of JAX?",
            )
            close(got[name][part], leaf, rtol=FLOAT32, atol=atol, what=place)


def weights_of_logits(*shape):
    """What logits are multiplied by before they are summed, for a gradient.

    The same in each run: compiled programs contain it, and come from the cache where they can.
    """
    return np.cos(np.arange(1, np.prod(shape) + 1, dtype=np.float32)).reshape(shape)


def positive_logits(params, x):
    """`params` with a last bias that makes all logits at `x` positive."""
    last = f"layer{len(params)}"
    lift = 1 - oracles.forward(params, x).reshape(-1, params[last]["b"].size).min(axis=0)
    b = (params[last]["b"] + np.maximum(lift, 0)).astype(np.float32)
    return {**params, last: {**params[last], "b": b}}


def require_depth(count, depth):
    """Compares what num_layers returned for a network of `depth` layers."""
    count = integer(count, what="num_layers(params)")
    what = f"num_layers(params), {count} for a network of {depth} layers,"
    close(count, depth, rtol=0, atol=0, what=what, mistakes=mistakes.of_depth(depth))


@item(
    "num_layers counts the layers",
    points=1,
    hint="How many leaves does one layer own?",
)
def test_num_layers_counts_the_layers(student, rng):
    for sizes in ((5, 7, 7, 6, 5, 4), (5, 7, 4), (5, 4)):
        require_depth(student.num_layers(oracles.random_params(rng, sizes)), len(sizes) - 1)


@item(
    "The lesson's network gives what the lesson's forward gives",
    points=0.5,
    hint="Print the largest difference between mlp_forward and forward for the same params and x.",
)
def test_matches_the_lessons_forward(student, rng):
    params = oracles.random_params(rng, (784, 256, 128, 10))
    x = rng.uniform(size=(20, 784)).astype(np.float32)
    params = positive_logits(params, x)
    known = mistakes.of_forward(params, x)
    require_logits(student.mlp_forward(params, x), params, x, "mlp_forward of 20 images", known)


@item(
    "Networks of one, two and five layers run, whatever their widths",
    points=0.5,
    hint="What does mlp_forward do that it should not when there is no 'layer3', or a 'layer4'?",
)
def test_any_depth_and_any_widths(student, rng):
    for sizes in ((5, 4), (5, 7, 4), (5, 7, 7, 6, 5, 4)):
        x = rng.normal(size=(6, 5)).astype(np.float32)
        params = positive_logits(oracles.random_params(rng, sizes), x)
        what = f"mlp_forward for widths {'-'.join(map(str, sizes))}"
        known = mistakes.of_forward(params, x)
        require_logits(student.mlp_forward(params, x), params, x, what, known)


@item(
    "Twelve layers run in the order of their numbers",
    points=1,
    hint="In which order does Python sort 'layer1', 'layer2', 'layer10'? And JAX?",
)
def test_twelve_layers_run_in_numeric_order(student, rng):
    x = rng.normal(size=(6, 7)).astype(np.float32)
    params = positive_logits(oracles.random_params(rng, (7,) * 13), x)
    known = mistakes.of_forward(params, x)
    require_logits(student.mlp_forward(params, x), params, x, "mlp_forward of 12 layers", known)


@item(
    "A single example gives a vector of logits",
    points=0.5,
    hint="Does any line rely on x having two axes?",
)
def test_single_example(student, rng):
    x = rng.normal(size=5).astype(np.float32)
    params = positive_logits(oracles.random_params(rng, (5, 7, 4)), x)
    known = mistakes.of_forward(params, x)
    require_logits(student.mlp_forward(params, x), params, x, "mlp_forward of one example", known)


@item(
    "A ReLU stands between two layers",
    points=0.5,
    hint="Where the sum is negative, what should the next layer see?",
)
def test_relu_between_layers(student, rng):
    x = rng.normal(scale=4, size=(6, 5)).astype(np.float32)
    params = positive_logits(oracles.random_params(rng, (5, 7, 4)), x)
    known = mistakes.of_forward(params, x)
    require_logits(student.mlp_forward(params, x), params, x, "mlp_forward", known)


@item(
    "No ReLU follows the last layer",
    points=0.5,
    hint="Logits are compared with each other by a softmax. May they be negative?",
)
def test_no_relu_after_the_last_layer(student, rng):
    for sizes in ((5, 4), (5, 7, 4)):
        params = oracles.random_params(rng, sizes)
        x = rng.uniform(size=(6, 5)).astype(np.float32)
        if len(sizes) == 3:  # every hidden unit is active: only the last layer is in question here
            params["layer1"]["b"] += np.float32(5)
        last = params[f"layer{len(params)}"]
        last["b"] -= np.median(oracles.forward(params, x), axis=0).astype(np.float32)
        what = "mlp_forward of one layer" if len(sizes) == 2 else "mlp_forward of two layers"
        known = mistakes.of_forward(params, x)
        require_logits(student.mlp_forward(params, x), params, x, what, known)


@item(
    "mlp_forward works under jax.jit",
    points=0.5,
    hint="What is known while a function is traced: the numbers in params, or its structure?",
)
def test_works_under_jit(student, rng):
    x = rng.normal(size=(6, 5)).astype(np.float32)
    params = positive_logits(oracles.random_params(rng, (5, 7, 7, 6, 5, 4)), x)
    got = student.under(jit()).mlp_forward(params, x)
    require_logits(got, params, x, "jax.jit(mlp_forward)", mistakes.of_forward(params, x))


@item(
    "Gradients reach every layer's parameters",
    points=0.5,
    hint="Compare jax.grad of a sum of the logits with finite differences, layer by layer.",
)
def test_works_under_grad(student, rng):
    params, x = oracles.clear_of_kinks(rng, (5, 7, 7, 4), 6)
    cotangent = weights_of_logits(6, 4)
    got = student.under(vjp(cotangent, argnums=0)).mlp_forward(params, x)
    want, _ = oracles.pullback(params, x, cotangent)
    require_gradients(got, want, "the gradient")


@item(
    "jax.vmap runs one batch through several networks",
    points=0.5,
    hint="Under vmap each call sees one network, its arrays without the axis that is mapped over.",
)
def test_works_under_vmap(student, rng):
    sizes = (5, 7, 4)
    x = rng.normal(size=(6, 5)).astype(np.float32)
    networks = [positive_logits(oracles.random_params(rng, sizes), x) for _ in range(3)]
    stacked = {
        name: {part: np.stack([params[name][part] for params in networks]) for part in ("w", "b")}
        for name in networks[0]
    }
    got = student.under(vmap(in_axes=(0, None))).mlp_forward(stacked, x)
    array(got, shape=(3, 6, 4), dtype="float32", what="vmap over three networks")
    for row, params in zip(got, networks, strict=True):
        require_logits(row, params, x, "vmap over three networks", mistakes.of_forward(params, x))


def require_structure(params, sizes):
    """Params of an MLP of these widths, float32 throughout; returns them checked."""
    like = {
        f"layer{number}": {
            "w": np.empty((fan_in, fan_out), np.float32),
            "b": np.empty(fan_out, np.float32),
        }
        for number, (fan_in, fan_out) in enumerate(pairwise(sizes), start=1)
    }
    return tree(params, like, what="init_mlp(key, sizes)")


def correlation(first, second):
    """The correlation coefficient of two arrays' elements; 1 where one of them is constant."""
    u, v = (a.astype(np.float64).ravel() - a.mean(dtype=np.float64) for a in (first, second))
    size = np.linalg.norm(u) * np.linalg.norm(v)
    return float(u @ v / size) if size > 0 else 1.0


def require_independent(layers, bound, what):
    """No two of the square matrices are equal, opposite, transposed or correlated at all."""
    for number, first in enumerate(layers):
        for other in layers[:number]:
            related = max(abs(correlation(first, other)), abs(correlation(first, other.T)))
            require(
                related < bound,
                f"{what} are not independent of each other (correlation {related:.2f}). Does every"
                " draw get a key that no other draw gets?",
            )


@item(
    "init_mlp returns float32 layers of the right names and shapes",
    points=1,
    hint="w is (fan_in, fan_out), so that x @ w goes from one width to the next.",
)
def test_init_has_names_and_shapes(student, rng):
    for sizes in ((6, 3), (9, 6, 3)):
        require_structure(student.init_mlp(key(rng), sizes), sizes)


@item(
    "Biases start at zero",
    points=0.5,
    hint="Which function of jax.numpy makes an array of zeros of a given shape?",
)
def test_biases_start_at_zero(student, rng):
    sizes = (9, 6, 3)
    params = require_structure(student.init_mlp(key(rng), sizes), sizes)
    off = [name for name, layer in params.items() if np.any(layer["b"] != 0)]
    require(not off, f"b is not all zero in {', '.join(sorted(off))} of init_mlp(key, sizes).")


@item(
    "Weights have mean 0 and variance 2 / fan_in",
    points=1,
    hint="If z has variance 1, what is the variance of a * z?",
)
def test_weights_have_he_variance(student, rng):
    """Bands of 6.9 standard deviations (variance, normal weights, n = 60,000) and 7 (mean).

    False alarm: below 1e-10 in all, and less for truncated or uniform weights, which vary less.
    """
    sizes = (400, 300, 200)
    params = require_structure(student.init_mlp(key(rng), sizes), sizes)
    for number in (1, 2):
        require_he(params[f"layer{number}"]["w"], f"layer{number}")


def require_he(w, name):
    """Mean 0 within 7 standard errors, variance 2 / fan_in within 4%."""
    fan_in, fan_out = w.shape
    mean, variance = w.mean(dtype=np.float64), w.var(dtype=np.float64)
    known = mistakes.of_variance(fan_in, fan_out)
    what = f"the variance of the weights of {name}, {fan_in} by {fan_out},"
    if not agrees(variance, 2 / fan_in, rtol=0.04, atol=0):  # the narrow band tells mistakes apart
        close(variance, 2 / fan_in, rtol=0.02, atol=0, what=what, mistakes=known)
    require(
        abs(mean) < 7 * np.sqrt(2 / fan_in / w.size),
        f"The weights of {name} have mean {mean:.2g}, too far from 0 for chance. Is the draw"
        " centred on 0?",
    )


@item(
    "Every layer is drawn from a subkey of its own",
    points=1,
    hint="The same key gives the same numbers. How many keys does a network of N layers need?",
)
def test_layers_are_drawn_independently(student, rng):
    """Correlations of 1,600 pairs against 0.2, 8 standard deviations; 3 pairs, each twice.

    False alarm: below 1e-14.
    """
    sizes = (40, 40, 40, 40)
    params = require_structure(student.init_mlp(key(rng), sizes), sizes)
    layers = [params[name]["w"] for name in ("layer1", "layer2", "layer3")]
    require_independent(layers, 0.2, "The weights of two layers")


@item(
    "Arguments stay as they were",
    points=0.5,
    hint="pop(), del, item assignment and donate_argnums reach into what belongs to the caller.",
)
def test_arguments_stay_as_they_were(student, rng):
    # The logits are as large as x and as layer2's w, so either could be donated for them.
    params = oracles.random_params(rng, (4, 7, 4))
    params = {name: params[name] for name in ("layer2", "layer1")}
    x = rng.normal(size=(7, 4)).astype(np.float32)
    calls = (
        ("num_layers", (params,), ("params",)),
        ("mlp_forward", (params, x), ("params", "x")),
        ("init_mlp", (key(rng), [9, 6, 3]), ("key", "sizes")),
    )
    for name, args, names in calls:
        getattr(student, name)(*args)
        changed = ", ".join(names[int(position)] for position in student.changed)
        require(not changed, f"{name} changed or deleted its argument {changed}.")
