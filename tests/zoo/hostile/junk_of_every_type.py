# hostile: returns each kind of thing that Python and NumPy can make, one a call
# verdict: failed error
import itertools

import jax
import jax.numpy as jnp
import numpy as np


class Odd:
    pass


class NotQuite(tuple):
    _fields = 5


CYCLE = []
CYCLE.append(CYCLE)
DEEP = []
for _ in range(3000):
    DEEP = [DEEP]
JUNK = [
    None,
    ...,
    NotImplemented,
    Odd,
    Odd(),
    CYCLE,
    DEEP,
    NotQuite((1, 2)),
    10**400,
    -(10**30),
    float("nan"),
    float("inf"),
    1j,
    "text",
    "\ud800",
    b"bytes",
    bytearray(10),
    memoryview(b"x"),
    range(5),
    {1, 2},
    {(): 1, None: 2, 1.5: 3, (1, 2): 4, b"k": 5},
    {"layer1": None},
    {"layer1": {"w": [[1.0]], "b": "b"}},
    {"layer\ud800": 1},
    [[], [[]], [1, "a", None]],
    (),
    [],
    {},
    "",
    True,
    np.array("text"),
    np.array([object()], dtype=object),
    np.array([1, 2], dtype="M8[s]"),
    np.zeros((0, 64), np.float32),
    np.zeros((2**20, 0)),
    np.full((4, 5), np.nan, np.float32),
    np.zeros((), np.float32),
    np.zeros((1,) * 32, np.float32),
    np.zeros(3, dtype=[("a", "f4"), ("b", "i4")]),
    np.float16(1),
    np.float128(1) if hasattr(np, "float128") else 0,
    np.ma.masked_array([1.0, 2.0], [True, False]),
    jnp.zeros((4, 5), jnp.bfloat16),
    jnp.zeros((4, 5), jnp.int8),
    jax.random.key(0),
    jax.ShapeDtypeStruct((4, 5), jnp.float32),
    jax.jit(abs),
    (x for x in range(3)),
    Exception("returned"),
    type,
    print,
]

NEXT = itertools.cycle(JUNK)


def num_layers(params):
    return next(NEXT)


def mlp_forward(params, x):
    return next(NEXT)


def init_mlp(key, sizes):
    return next(NEXT)
