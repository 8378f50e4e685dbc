"""`make bench`: ten training steps, the student's beside the lesson's.

The steps run in the worker; the clock is the trusted side's. `make bench` keeps each run under
build/benchmarks and shows the last one beside it.
"""

import numpy as np
import pytest

from grader.plugin import item
from tests import oracles

ROUNDS = {"reference, jitted": 20, "yours, jitted": 20, "yours, eager": 5}


@item("Ten training steps", points=0, hint="Is make_train_step written?", seconds=300)
@pytest.mark.benchmark(group="ten training steps on 128 images")
@pytest.mark.parametrize("steps", ROUNDS)
def test_ten_steps(student, rng, benchmark, steps):
    params = oracles.random_params(rng, (784, 256, 128, 10))
    x = rng.uniform(size=(128, 784)).astype(np.float32)
    y = rng.integers(10, size=128).astype(np.int32)
    which = "reference" if steps.startswith("reference") else steps.removeprefix("yours, ")
    run = student.keep_run("jit_benchmark.ten_steps", which, params, x, y)
    benchmark.pedantic(student.call, args=(run,), rounds=ROUNDS[steps], warmup_rounds=1)
