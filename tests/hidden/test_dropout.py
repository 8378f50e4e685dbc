"""Exercise 1, dropout: the tests that students do not have.

Where chance decides, the docstring bounds the probability that a right solution fails; H stands for
Hoeffding's inequality.

Most tests of `compare_dropout` train on images of one lit pixel each, all different. A row of the
first layer's weights then moves for one image alone: which of its entries moved shows the mask that
the image was trained with, and how far Adam carried them since shows the step.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from grader.checks import array, close, fail, require, scalar, tree
from grader.plugin import item
from grader.values import grad, jit, key, keys, vmap
from grader.wire import DTYPES, Record
from tests import oracles
from tests.mistakes.dropout import KNOWN, of_forward, of_survivors
from tests.visible.test_dropout import (
    BATCH,
    FLIPPED,
    N_TEST,
    WIDTHS,
    compare,
    digits_like,
    distance,
    initial_params,
    nonzero,
    off_course,
    require_different_runs,
    require_dropout,
)


@item(
    "Rates near 0 and near 1 are kept to",
    points=0.5,
    hint="Does the rate reach the comparison unrounded? Are your random numbers fine enough?",
)
def test_extreme_rates(student, rng):
    """Chernoff: 2 exp(-d**2 m / 3) below 1e-11 for the rare kind, m expected, d as below."""
    x = nonzero(rng, (512, 1024))
    for rate, tolerance in ((0.002, 0.3), (0.99, 0.13)):
        what = f"dropout(key, x, {rate})"
        out = array(student.dropout(key(rng), x, rate), shape=x.shape, dtype="float32", what=what)
        keep = out != 0
        share = float(1 - keep.mean()) if rate < 0.5 else float(keep.mean())
        expected = min(rate, 1 - rate)
        require(
            abs(share - expected) < tolerance * expected,
            f"{what} {'zeroed' if rate < 0.5 else 'kept'} {share:.3%} of half a million elements.",
        )
        # 1 - rate loses digits where rate is near 1, in float32.
        want = np.where(keep, x / (1 - rate), 0)
        close(out, want, rtol=3e-5, atol=0, what=what, mistakes=of_survivors(x, keep, rate))


@item(
    "How many elements are zeroed varies, each as likely as the others",
    points=0.5,
    hint="Does the fate of one element depend on that of another?",
)
def test_number_zeroed_varies(student, rng):
    """H for each element's share over 300 keys: 2 exp(-2 n t**2) below 1e-11 for t = 0.215, 50
    elements. The variance of 300 counts is below 0.4 of its expectation with probability 1e-20
    (chi-squared with 299 degrees of freedom)."""
    x = nonzero(rng, (50,))
    out = student.run("dropout.over_keys", keys(rng, 300), x, 0.3)
    zeroed = array(out, shape=(300, 50), what="dropout(key, x, 0.3), for 300 keys,") == 0
    require_dropout(zeroed, 0.3)
    counts = zeroed.sum(axis=1)
    if counts.std() == 0:
        fail(KNOWN["fixed-number"], "fixed-number")
    require(
        counts.var() > 0.4 * 50 * 0.3 * 0.7,
        f"Over 300 keys the number of zeroed elements has a variance of {counts.var():.1f}; that of"
        " 50 independent ones is 10.5.",
    )
    rare, often = zeroed.mean(axis=0).min(), zeroed.mean(axis=0).max()
    require(
        0.3 - 0.215 < rare and often < 0.3 + 0.215,
        f"Over 300 keys one element was zeroed {rare:.0%} of the time, another {often:.0%}.",
    )


@item(
    "The dtype of x is kept",
    points=0.5,
    hint="What dtype has a product of a bfloat16 and a float32 array?",
)
def test_dtype_is_kept(student, rng):
    """H for each dtype: 2 exp(-2 n t**2) below 1e-12 for n = 4,096 elements and t = 0.06."""
    values = nonzero(rng, (64, 64))
    for name, rtol in (("bfloat16", 0.0125), ("float16", 2e-3)):
        x, what = values.astype(DTYPES[name]), f"dropout(key, x, 0.3) for x of dtype {name}"
        out = array(student.dropout(key(rng), x, 0.3), shape=x.shape, dtype=name, what=what)
        out, x = out.astype(np.float64), x.astype(np.float64)
        keep = out != 0
        require(abs((~keep).mean() - 0.3) < 0.06, f"{what} zeroed {(~keep).mean():.0%}.")
        close(out, np.where(keep, x / 0.7, 0), rtol=rtol, atol=0, what=what)
        unchanged = student.dropout(key(rng), values.astype(DTYPES[name]), 0.0)
        unchanged = array(unchanged, shape=x.shape, dtype=name, what=f"At rate 0.0 {what[-16:]}")
        require(
            np.array_equal(unchanged.astype(np.float64), x), "At rate 0.0 x does not come back."
        )


@item(
    "x may have any shape",
    points=0.5,
    hint="A scalar, an empty array, four axes: what shape do the random numbers need?",
)
def test_any_shape(student, rng):
    """Four axes: H over 8,192 lags below 1e-9 (three classes, n = 16,384, t = 0.2). A scalar: all
    of 300 keys agree with probability 2**-299."""
    for shape in ((), (0, 3), (8, 16, 32, 4)):
        x = nonzero(rng, shape)
        what = f"dropout(key, x, rate) for x of shape {shape}"
        out = array(student.dropout(key(rng), x, 0.5), shape=shape, dtype="float32", what=what)
        close(out, np.where(out != 0, x / 0.5, 0), rtol=1e-5, atol=0, what=what)
        same = array(student.dropout(key(rng), x, 0.0), shape=shape, dtype="float32", what=what)
        require(np.array_equal(same, x), f"{what} at rate 0.0 does not give x back.")
    _, correlation = oracles.strongest_lag(out == 0)
    require(abs(correlation) < 0.2, f"For x of shape {shape} some elements share their fate.")
    scalars = student.run("dropout.over_keys", keys(rng, 300), nonzero(rng, ()), 0.5)
    zeroed = array(scalars, shape=(300,), what="dropout(key, x, 0.5) of a scalar x") == 0
    require_dropout(zeroed, 0.5)


@item(
    "dropout works under vmap, over keys and over examples",
    points=0.5,
    hint="Under vmap x has no batch axis, and every key makes a mask of its own.",
)
def test_vmap(student, rng):
    """Two of 32 masks of 64 elements are equal with probability 496 * 2**-64 at rate 0.5."""
    x, batch = nonzero(rng, (64,)), nonzero(rng, (32, 64))
    over_keys = student.under(vmap(in_axes=(0, None, None))).dropout(keys(rng, 32), x, 0.5)
    over_both = student.under(vmap(in_axes=(0, 0, None))).dropout(keys(rng, 32), batch, 0.5)
    for out, values in ((over_keys, x), (over_both, batch)):
        out = array(out, shape=(32, 64), dtype="float32", what="dropout under vmap over keys")
        require_dropout(out == 0, 0.5)
        require(
            len(np.unique(out == 0, axis=0)) == 32,
            "Under vmap over 32 keys some masks are equal.",
        )
        factors = (out / values)[out != 0]
        require(
            np.ptp(factors) < 1e-4 * abs(factors).max(),
            "Under vmap the survivors are not all scaled alike.",
        )


@item(
    "Typed keys work as well as raw ones",
    points=0.5,
    hint="Does your code look inside the key? jax.random.split and fold_in take both kinds.",
)
def test_typed_keys(student, rng):
    """All of 4,096 elements share their fate with probability 2**-4095."""
    x = nonzero(rng, (64, 64))
    first, second = (
        array(student.dropout(key(rng, typed=True), x, 0.5), shape=x.shape, what="dropout")
        for _ in range(2)
    )
    require_dropout(first == 0, 0.5)
    require(not np.array_equal(first == 0, second == 0), "Two typed keys gave the same mask.")
    params = oracles.random_params(rng, WIDTHS, shuffle=False)
    images = rng.normal(size=(BATCH, 6)).astype(np.float32)
    y = rng.integers(0, 10, BATCH).astype(np.int32)
    k = key(rng, typed=True)
    logits = student.forward_dropout(params, images, k, 0.5)
    array(logits, shape=(BATCH, 10), dtype="float32", what="forward_dropout with a typed key")
    scalar(student.loss_dropout(params, images, y, k, 0.5), what="loss_dropout with a typed key")


@item(
    "forward_dropout equals a network computed by hand with the same masks",
    points=1,
    hint="Bias, ReLU, dropout with its scaling, next layer: is every step there, once?",
)
def test_forward_with_known_masks(student, rng):
    """`read_masks` of a right solution never fails; it does not show all masks at once with a
    probability below 1e-12."""
    rate, k, masks, x = known_masks(student, rng)
    params = oracles.random_params(rng, SIZES)
    scaled = (masks.keep1 / (1 - rate), masks.keep2 / (1 - rate))
    require_dropout(~masks.keep1, rate)
    require_dropout(~masks.keep2, rate)
    logits = student.forward_dropout(params, x, k, rate)
    what = f"forward_dropout(params, x, key, {rate})"
    close(
        array(logits, shape=(len(x), SIZES[-1]), dtype="float32", what=what),
        oracles.forward(params, x, scaled),
        rtol=1e-4,
        atol=1e-4,
        what=what,
        mistakes=of_forward(params, x, masks, rate),
    )


@item(
    "forward_dropout takes single examples, under jit and vmap too",
    points=0.5,
    hint="One example has no batch axis: which of your lines needs one?",
)
def test_forward_of_single_examples(student, rng):
    """The 32 logits of right masks take fewer than 17 values with probability below 1e-60: each of
    them has more than 2**20 to choose from. H: 2 exp(-2 n t**2) below 1e-12 for n at least 240
    pairs of units and t = 0.25."""
    params = oracles.mask_reading_params(6, 10, 10)
    x = rng.normal(size=(32, 6)).astype(np.float32)
    what = "forward_dropout(params, x, key, 0.5) for one example"
    k = key(rng)
    one = array(student.forward_dropout(params, x[0], k, 0.5), shape=(10,), what=what)
    jitted = student.under(jit(static=(3,))).forward_dropout(params, x[0], k, 0.5)
    close(
        array(jitted, shape=(10,), dtype="float32", what=f"{what}, under jit,"),
        one,
        rtol=1e-4,
        atol=1e-4,
        what=f"{what}, under jit and without it,",
    )
    mapped = student.under(vmap(in_axes=(None, 0, 0, None)))
    logits = mapped.forward_dropout(params, x, keys(rng, 32), 0.5)
    logits = array(logits, shape=(32, 10), dtype="float32", what=f"{what}, under vmap,")
    require_dropout(logits == 0, 0.5)
    require(
        len(np.unique(logits, axis=0)) > 16,
        "Under vmap examples with keys of their own lose the same units.",
    )
    masks = oracles.read_masks(logits, 10)
    if masks is not None:
        agreement = float((masks.keep1 == masks.keep2)[masks.shown].mean())
        require(
            abs(agreement - 0.5) < 0.25,
            f"For single examples at rate 0.5 the masks of the two layers agree at {agreement:.0%}"
            " of the units; masks that know nothing of each other agree at half of them.",
        )


@item(
    "Gradients of loss_dropout are those of the network with the dropped units gone",
    points=1,
    hint="Does anything between params and loss stop gradients, or turn arrays into numbers?",
)
def test_loss_gradient(student, rng):
    """As `test_forward_with_known_masks`."""
    rate, k, masks, x = known_masks(student, rng)
    require_dropout(~np.concatenate([masks.keep1, masks.keep2], axis=1), rate)
    params = oracles.random_params(rng, SIZES)
    y = rng.integers(0, SIZES[-1], len(x)).astype(np.int32)
    scaled = (masks.keep1 * masks.scale, masks.keep2 * masks.scale)
    want = oracles.gradient(params, x, y, scaled)
    gradients = student.under(jit(static=(4,)), grad()).loss_dropout(params, x, y, k, rate)
    gradients = tree(gradients, params, what="The gradient of loss_dropout")
    for name, layer in want.items():
        for part, leaf in layer.items():
            what = f"The gradient of loss_dropout in {name}['{part}']"
            got, size = gradients[name][part], abs(leaf).max()
            if not got.any():
                fail(f"{what} is zero everywhere.", "no-gradient")
            close(got, leaf, rtol=1e-4, atol=1e-4 * size, what=what)


@item(
    "Every training step and every image gets a mask of its own",
    points=1,
    hint="Write down which key each training step passes to loss_dropout.",
    seconds=60,
)
def test_masks_of_training_steps(student, rng):
    """Two right masks agree on all the units that both images use with probability
    E[0.52**n] = 1.6e-13, n of Binomial(256, 0.227): below 5e-11 for 276 pairs."""
    run = one_epoch(student, rng)
    require_different_runs(run.result)
    if not run.dropped.any():
        fail(f"The run with dropout dropped nothing. {KNOWN['no-dropout']}", "no-dropout")
    # An image that lost all units, or none, tells nothing: its only pixel may be what was dropped.
    telling = [
        image
        for image, (used, dropped) in enumerate(zip(run.used, run.dropped, strict=True))
        if dropped.any() and (used & ~dropped).any()
    ]
    alike = [
        (i, j)
        for i in telling
        for j in telling
        if i < j and not (run.used[i] & run.used[j] & (run.dropped[i] != run.dropped[j])).any()
    ]
    if alike:
        one_batch = np.mean([run.plain_steps[i] == run.plain_steps[j] for i, j in alike]) > 0.5
        known = "same-mask-in-batch" if one_batch else "same-mask-every-step"
        fail(KNOWN[known], known)


@item(
    "The run with dropout drops units at the given rate",
    points=0.5,
    hint="Does rate reach every step's loss_dropout?",
    seconds=60,
)
def test_rate_of_training(student, rng):
    """H: 2 exp(-2 n t**2) below 1e-11 for n of about 2,900 units and t = 0.08."""
    run = one_epoch(student, rng)
    require(
        rate_is_kept(run),
        f"At rate {ONE_EPOCH_RATE} the run with dropout lost {run.dropped[run.used].mean():.0%} of"
        " the first hidden layer.",
    )


@item(
    "The run with dropout takes steps of Adam on the loss with scaled masks",
    points=0.5,
    hint="Is the loss that the second run differentiates loss_dropout itself?",
    seconds=60,
)
def test_dropout_run_is_adam(student, rng):
    """Exact: what had no gradient did not move at all, which tells who took part in which step. No
    unit of the first layer that took part in one step alone: below 1e-12."""
    data, k = digits_like(rng, 2), key(rng, typed=True)
    owner = rng.choice(3, 784, p=[0.4, 0.4, 0.2])  # the image that may light a pixel; 2: none
    data["x_train"] = (rng.uniform(0.3, 1, (2, 784)) * (owner == [[0], [1]])).astype(np.float32)
    result = compare(student, k, data, 0.75, 1, 1)
    start = initial_params(student, k, data, result, 0.75, 1, 1)
    travel1, travel2 = (
        np.abs(result.dropout_params[name]["w"].astype(np.float64) - start[name]["w"])
        for name in ("layer1", "layer2")
    )
    first = [(travel1[owner == image] > 0).any(axis=0) for image in (0, 1)]
    # From a unit that took part for one image alone, weights moved where the second mask let them.
    second = [(travel2[first[i] & ~first[1 - i]] > 0).any(axis=0) for i in (0, 1)]
    earlier = int(travel1[owner == 1].max() > travel1[owner == 0].max())
    want, adam = oracles.float64(start), oracles.Adam(1e-3)
    for i in (earlier, 1 - earlier):
        masks = [layer[i][None] / 0.25 for layer in (first, second)]
        gradient = oracles.gradient(want, data["x_train"][[i]], data["y_train"][[i]], masks)
        want = oracles.apply_updates(want, adam.update(gradient))
    require_different_runs(result)
    moved, off = distance(start, want), distance(result.dropout_params, want)
    require(
        off < TOLERANCE * moved or off_course(result.dropout_params, want, start) < FLIPPED,
        "Two steps on one image each do not lead to where optax.adam(1e-3) leads with the units"
        " that took part, on the cross-entropy of a network with dropout behind both hidden ReLUs:"
        f" they end up {off / moved:.0%} off.",
    )


@item(
    "Both runs take the same batches in the same order, shuffled",
    points=0.5,
    hint="Which key decides the order of the images, and do both runs use it in the same way?",
    seconds=60,
)
def test_same_batches(student, rng):
    """A right shuffle leaves neighbours together in all batches with probability at most
    4 * 6! * 4!**6 / 24!, below 1e-12."""
    run = one_epoch(student, rng)
    n, steps = len(run.pixels), len(run.pixels) // ONE_EPOCH_BATCH
    require(
        (np.bincount(run.plain_steps, minlength=steps + 1)[1:] == ONE_EPOCH_BATCH).all(),
        f"In one epoch over {n} images with batch_size={ONE_EPOCH_BATCH} not every image was used"
        f" once, in batches of that size by steps of optax.adam(1e-3).",
    )
    changes = (run.plain_steps != np.roll(run.plain_steps, 1)).sum()
    if (
        changes == steps
    ):  # each batch is a run of neighbours, the last image being next to the first
        fail(KNOWN["not-shuffled"], "not-shuffled")
    require(
        np.array_equal(run.plain_steps, run.dropout_steps),
        "The run with dropout met the images at other steps than the plain run: the batches are not"
        " the same in both.",
    )
    want, adam = small(run.start, run.pixels), oracles.Adam(1e-3)
    for step in range(1, steps + 1):
        batch = np.flatnonzero(run.plain_steps == step)
        gradient = oracles.gradient(want, np.eye(n)[batch], run.y[batch])
        want = oracles.apply_updates(want, adam.update(gradient))
    got, start = small(run.result.plain_params, run.pixels), small(run.start, run.pixels)
    require(
        distance(got, want) < TOLERANCE * distance(start, want)
        or off_course(got, want, start) < FLIPPED,
        "The plain run is not where optax.adam(1e-3) leads with the batches that it took.",
    )
    require_same_batches_later(student, rng)
    require_same_images(student, rng)


@item(
    "The training split is shuffled anew in each epoch",
    points=0.5,
    hint="Is the permutation drawn inside the loop over epochs, and from a key of its own?",
    seconds=60,
)
def test_shuffled_each_epoch(student, rng):
    """Thirteen right epochs of three images have one order, or two that take turns, with
    probability 6**-11 = 3e-9; another order in a single epoch ends up 4e-3 of the way off or more,
    float32 by itself 1e-5. Two right epochs of 24 images in six batches have the same batches in
    any order with probability 6! * 4!**6 / 24! = 2e-13, and rotated ones with one below
    48 * 6**6 * 4!**6 / 24! = 7e-10."""
    run = many_epochs(student, rng)
    require(run.surely_used.sum() > 100, "The plain run left most weights where they were.")
    start = small(run.start, run.pixels)
    moved = distance(start, small(run.result.plain_params, run.pixels))
    orders = itertools.permutations(range(3))
    for odd, even in itertools.product(orders, repeat=2):
        want, adam = start, oracles.Adam(1e-3)
        for epoch in range(MANY_EPOCHS):
            for image in (odd, even)[epoch % 2]:
                gradient = oracles.gradient(want, np.eye(3)[[image]], run.y[[image]])
                want = oracles.apply_updates(want, adam.update(gradient))
        if distance(want, small(run.result.plain_params, run.pixels)) < 5e-4 * moved:
            require(odd == even, "Two orders take turns from epoch to epoch.")
            known = "not-shuffled" if odd == (0, 1, 2) else "same-order-every-epoch"
            fail(KNOWN[known], known)
    first, second = two_epochs(student, rng).steps
    if min(first.min(), second.min()) >= 0:
        pairs = len(set(zip(first, second, strict=True)))
        require(
            pairs > first.max() + 1,
            "The second epoch has the very batches of the first: it is the images that are to be"
            " shuffled, not the batches.",
        )
        require(
            not are_rotated(first, second),
            "The second epoch goes through the order of the first, from another place on.",
        )


@item(
    "Masks do not come back epoch after epoch",
    points=0.5,
    hint="If you fold the number of a step into a key: does it go on counting in the next epoch?",
    seconds=60,
)
def test_masks_of_epochs(student, rng):
    """A unit is dropped in all of 13 epochs with probability 0.75**13 = 0.024; Chernoff: more than
    a quarter of about 210 such units are with probability below 1e-30. In both of two epochs: H for
    about 1,300 units and t = 0.12, and for the square of the share in one epoch, of about 2,900
    units, with t = 0.065: below 1e-10."""
    run = many_epochs(student, rng)
    share = float(run.dropped[run.surely_used].mean())
    require(run.surely_used.sum() > 100, "The plain run left most weights where they were.")
    require_different_runs(run.result)
    if share > 0.25:
        said = f"At rate 0.75 a share of {share:.0%} of the units stayed dropped for 13 epochs."
        if not rate_is_kept(one_epoch(student, rng)):
            fail(f"{said} Is the rate kept to within one epoch?")
        known = "same-mask-every-step" if share > 0.6 else "same-masks-every-epoch"
        fail(f"{said} {KNOWN[known]}", known)
    share, expected = dropped_twice(student, rng)
    require(
        abs(share - expected) < 0.2,
        f"In two epochs at rate {ONE_EPOCH_RATE} a share of {share:.0%} of the units was dropped in"
        f" both; of masks that are drawn anew in each epoch it would be {expected:.0%}.",
    )


@item(
    "The same key gives the same comparison, another key another",
    points=0.5,
    hint="Is there any randomness in compare_dropout that the key does not decide?",
    seconds=60,
)
def test_comparison_follows_from_the_key(student, rng):
    """Another key gives other parameters but for an event of probability 2**-256."""
    run, other_key = one_epoch(student, rng), key(rng)
    again = compare(student, *run.arguments)
    for name in ("plain_params", "dropout_params"):
        apart = distance(getattr(run.result, name), getattr(again, name))
        require(
            apart < 1e-3 * distance(run.start, getattr(again, name)),
            f"Called twice with the same key, compare_dropout gave two different {name}.",
        )
    _, data, rate, _, batch_size = run.arguments
    other = compare(student, other_key, data, rate, 0, batch_size)
    if distance(run.start, other.plain_params) == 0:  # perhaps the key decides all but the start
        other = compare(student, other_key, *run.arguments[1:])
        require(
            distance(run.result.dropout_params, other.dropout_params) > 0,
            "Two keys gave the same comparison.",
        )


@item(
    "What the caller gave stays as it was",
    points=0.5,
    hint="Does a function assign into params, or donate an argument to jit?",
)
def test_arguments_are_left_alone(student, rng):
    # The logits are as large as x and as layer3's w, so either could be donated for them.
    params = oracles.random_params(rng, (10, 7, 5, 10), shuffle=False)
    x = rng.normal(size=(5, 10)).astype(np.float32)
    y = rng.integers(0, 10, 5).astype(np.int32)
    calls = {
        "dropout": lambda: student.dropout(key(rng), nonzero(rng, (64, 64)), 0.5),
        "forward_dropout": lambda: student.forward_dropout(params, x, key(rng), 0.5),
        "loss_dropout": lambda: student.loss_dropout(params, x, y, key(rng), 0.5),
    }
    changed = {"compare_dropout": one_epoch(student, rng).changed}
    for name, call in calls.items():
        call()
        changed[name] = student.changed
    for name, arguments in changed.items():
        require(
            not arguments,
            f"{name} changed, deleted or donated what it was given (arguments"
            f" {', '.join(arguments)}, counted from 0).",
        )


SIZES = (6, 9, 12, 12)


def known_masks(student, rng, rate=0.25, batch=24):
    """A key, and the masks that `forward_dropout` draws from it for a batch of `SIZES`."""
    params = oracles.mask_reading_params(*SIZES[:3])
    for _ in range(5):  # a row whose second layer is nearly gone hides its first mask
        k, x = key(rng), rng.normal(size=(batch, SIZES[0])).astype(np.float32)
        logits = student.forward_dropout(params, x, k, rate)
        logits = array(logits, shape=(batch, SIZES[-1]), dtype="float32", what="forward_dropout")
        masks = oracles.read_masks(logits, SIZES[1])
        if masks is not None and masks.shown.all():
            return rate, k, masks, x
    fail("The logits are none that zeros and scaled survivors in the two hidden layers lead to.")


def require_same_batches_later(student, rng):
    """Fails unless the plain run took the batches of the run with dropout in a second epoch too."""
    run, both = one_epoch(student, rng), two_epochs(student, rng)
    n = len(run.pixels)
    if both.steps.min() < 0:
        share, expected = dropped_twice(student, rng)
        require(
            # Masks that come back, or none at all, hide the steps: another item's matter.
            expected < 0.1 or abs(share - expected) > 0.1,
            "In two epochs the run with dropout did not use every image once an epoch, in batches"
            " of the given size by steps of optax.adam(1e-3).",
        )
        return
    want, adam = small(both.start, run.pixels), oracles.Adam(1e-3)
    start = want
    for epoch in both.steps:
        for step in range(n // ONE_EPOCH_BATCH):
            batch = np.flatnonzero(epoch == step)
            require(len(batch) > 0, "In an epoch the run with dropout left steps out.")
            gradient = oracles.gradient(want, np.eye(n)[batch], run.y[batch])
            want = oracles.apply_updates(want, adam.update(gradient))
    got = small(both.result.plain_params, run.pixels)
    require(
        distance(got, want) < TOLERANCE * distance(start, want)
        or off_course(got, want, start) < FLIPPED,
        "After two epochs the plain run is not where optax.adam(1e-3) leads with the batches that"
        " the run with dropout took.",
    )


def require_same_images(student, rng):
    """Fails unless both runs use the same images where batches of four do not divide ten.

    A right run drops all units of an image, or of what reaches it, with probability below 1e-30."""
    run = observe(student, rng, 10, 0.5, 1, 4)
    moved = [
        (np.abs(params["layer1"]["w"][run.pixels] - run.start["layer1"]["w"][run.pixels]) > 1e-5)
        for params in (run.result.plain_params, run.result.dropout_params)
    ]
    plain, dropout = (rows.any(axis=1) for rows in moved)
    require(
        np.array_equal(plain, dropout),
        f"Of 10 images, with batch_size=4, the plain run used {plain.sum()} and the run with"
        f" dropout {dropout.sum()}, not the same ones. What becomes of a last partial batch is"
        " free, but it is the same in both runs.",
    )


class Observed(NamedTuple):
    """What a training on images of one lit pixel each shows."""

    arguments: tuple
    """What `compare` was called with."""
    result: Record
    changed: tuple[str, ...]
    """Which arguments the call changed."""
    start: dict
    """The initial parameters."""
    pixels: np.ndarray
    """The lit pixel of each image."""
    y: np.ndarray
    used: np.ndarray
    """(images, 256): the units whose weights from the image's pixel the plain run moved."""
    surely_used: np.ndarray
    """Those of them that are far from their ReLU's kink."""
    dropped: np.ndarray
    """(images, 256): the units whose weights from the image's pixel the run with dropout left."""
    plain_steps: np.ndarray
    """(images,): the step of the plain run that used the image, from 1; 0 where none fits."""
    dropout_steps: np.ndarray


ONE_EPOCH_RATE, ONE_EPOCH_BATCH = 0.6, 4
MANY_EPOCHS = 13
TOLERANCE = 2e-3
_ONE_EPOCH: WeakKeyDictionary = WeakKeyDictionary()
_MANY_EPOCHS: WeakKeyDictionary = WeakKeyDictionary()


def one_epoch(student, rng):
    """One epoch over 24 images in batches of four; several tests look at one such training."""
    if student not in _ONE_EPOCH:
        _ONE_EPOCH[student] = observe(student, rng, 24, ONE_EPOCH_RATE, 1, ONE_EPOCH_BATCH)
    return _ONE_EPOCH[student]


def rate_is_kept(run):
    """Whether one epoch dropped units of the first layer at about its rate."""
    return abs(run.dropped[run.used].mean() - ONE_EPOCH_RATE) < 0.08


def many_epochs(student, rng):
    """Thirteen epochs over three images, one a step, with a typed key."""
    if student not in _MANY_EPOCHS:
        _MANY_EPOCHS[student] = observe(student, rng, 3, 0.75, MANY_EPOCHS, 1, typed=True)
    return _MANY_EPOCHS[student]


class TwoEpochs(NamedTuple):
    """What two epochs on the images of `one_epoch` show."""

    result: Record
    start: dict
    surely_used: np.ndarray
    """(images, 256): the units that are too far from their ReLU's kink for twelve steps."""
    dropped: np.ndarray
    """(images, 256): those that the run with dropout left where they were, in both epochs."""
    steps: np.ndarray
    """(2, images): the step of each epoch, from 0, that used the image in the run with dropout."""


_TWO_EPOCHS: WeakKeyDictionary = WeakKeyDictionary()


def two_epochs(student, rng):
    """Two epochs over the images of `one_epoch`; several tests look at them.

    Adam carries a weight that has a gradient in one of the epochs only a way that tells the step.
    Of about 120 units of an image 29 are expected for each epoch: less than 3, or no more than meet
    a way of another step by chance, with a probability below 1e-10.
    """
    if student not in _TWO_EPOCHS:
        run = one_epoch(student, rng)
        k, data, rate, _, batch_size = run.arguments
        result = compare(student, k, data, rate, 2, batch_size)
        start = initial_params(student, k, data, result, rate, 2, batch_size)
        before = start["layer1"]["w"][run.pixels]
        plain, dropout = (
            np.abs(params["layer1"]["w"][run.pixels] - before)
            for params in (result.plain_params, result.dropout_params)
        )
        used = (plain > 1e-5) & (before > 0.04)
        per_epoch = len(run.pixels) // batch_size
        ways = [adam_travel(step, 2 * per_epoch) for step in range(1, 2 * per_epoch + 1)]
        fits = np.abs(dropout[:, :, None] / np.array(ways) - 1) < 3e-3
        votes = fits.sum(axis=1).reshape(len(run.pixels), 2, per_epoch)
        steps = np.where(votes.max(axis=2) < 3, -1, votes.argmax(axis=2)).T
        _TWO_EPOCHS[student] = TwoEpochs(result, start, used, used & (dropout < 1e-5), steps)
    return _TWO_EPOCHS[student]


def dropped_twice(student, rng):
    """The share of units dropped in both of two epochs, and what independent masks would give."""
    once, twice = one_epoch(student, rng), two_epochs(student, rng)
    require(twice.surely_used.sum() > 600, "The plain run left most weights where they were.")
    share = float(twice.dropped[twice.surely_used].mean())
    return share, float(once.dropped[once.used].mean()) ** 2


def are_rotated(first, second):
    """Whether the batches of one epoch are those of another, begun at another place."""
    n_batches = first.max() + 1
    table = np.zeros((n_batches, n_batches), int)
    np.add.at(table, (first, second), 1)
    whole = table.max()
    turned = [np.roll(np.eye(n_batches, dtype=int), turn, axis=1) for turn in range(n_batches)]
    return any(
        np.array_equal(table, whole * one + (ONE_EPOCH_BATCH - whole) * np.roll(one, by, axis=1))
        for one in turned
        for by in (-1, 1)
    )


def observe(student, rng, n, rate, n_epochs, batch_size, typed=False):
    """Trains on `n` images of one lit pixel each, and reads what the weights tell."""
    lit = rng.choice(784, n + N_TEST, replace=False)
    images = np.eye(784, dtype=np.float32)[lit]
    labels = rng.integers(0, 10, n + N_TEST).astype(np.int32)
    data = {
        "x_train": images[:n],
        "y_train": labels[:n],
        "x_test": images[n:],
        "y_test": labels[n:],
    }
    k, pixels = key(rng, typed), lit[:n]
    result = compare(student, k, data, rate, n_epochs, batch_size)
    changed = student.changed
    start = initial_params(student, k, data, result, rate, n_epochs, batch_size)
    before = start["layer1"]["w"][pixels]
    plain = np.abs(result.plain_params["layer1"]["w"][pixels] - before)
    dropout = np.abs(result.dropout_params["layer1"]["w"][pixels] - before)
    # A pre-activation is the weight plus a bias that starts at 0 and moves by 1e-3 a step.
    used = (plain > 1e-5) & (before > 3e-3)
    steps = n // batch_size if n_epochs == 1 else 0
    return Observed(
        arguments=(k, data, rate, n_epochs, batch_size),
        result=result,
        changed=changed,
        start=start,
        pixels=pixels,
        y=labels[:n],
        used=used,
        surely_used=used & (before > 0.03),
        dropped=used & (dropout < 1e-5),
        plain_steps=steps_used(plain, steps),
        dropout_steps=steps_used(dropout, steps),
    )


def steps_used(travel, steps):
    """The step (from 1) at which each row got its only gradient, from how far it went since."""
    found = np.zeros(len(travel), int)
    for row, moved in enumerate(travel):
        far = moved[moved > 1e-5]
        for step in range(1, steps + 1):
            if len(far) and abs(np.median(far) / adam_travel(step, steps) - 1) < 0.02:
                found[row] = step
    return found


def adam_travel(used, steps, learning_rate=1e-3):
    """How far Adam moves a weight in `steps` steps if step `used` alone has a gradient.

    Both of Adam's means decay from there on; the size of the gradient cancels.
    """
    return sum(
        learning_rate
        * (0.1 * 0.9 ** (step - used) / (1 - 0.9**step))
        / np.sqrt(0.001 * 0.999 ** (step - used) / (1 - 0.999**step))
        for step in range(used, steps + 1)
    )


def small(params, pixels):
    """The network that is left if only `pixels` are ever lit, in float64."""
    layer1 = {"w": params["layer1"]["w"][pixels], "b": params["layer1"]["b"]}
    return oracles.float64({**params, "layer1": layer1})
