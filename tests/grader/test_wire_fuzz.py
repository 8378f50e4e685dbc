"""Whatever bytes and messages a worker sends, the trusted side gets a value or one known error."""

from __future__ import annotations

import math
import socket
import struct
import time
import tracemalloc

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from grader import wire
from grader.launch import WorkerGarbled
from grader.student import Student, StudentFault
from grader.wire import Channel, Disconnected, ProtocolError, Timeout, decode

TAGS = st.sampled_from(["a", "l", "t", "d", "b", "r", "m", "k", "h", "o", "z", ""])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=8),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.text(max_size=4), st.integers(-9, 9)), inner, max_size=3),
    ),
    max_leaves=20,
)
SIZES = st.one_of(st.integers(-3, 5), st.sampled_from([2**31, 2**40, 2**62, 2**63 - 1, -(2**63)]))
DTYPES = st.sampled_from([*wire.DTYPES, "object", "S8", "V4", "M8[s]", "float128", "", "f4,i4"])


def nodes() -> st.SearchStrategy:
    """Messages that are nearly right: each tag with fields of nearly the right kinds."""
    leaf = st.one_of(
        SCALARS.filter(lambda value: not isinstance(value, bytes)),
        st.tuples(st.just("a"), DTYPES, st.lists(SIZES, max_size=4)),
        st.tuples(st.just("b"), SIZES),
        st.tuples(st.just("o"), st.text(max_size=5)),
        st.tuples(st.just("k"), st.integers(-5, 5), st.booleans(), st.one_of(st.none(), SIZES)),
        st.tuples(st.just("h"), SIZES, st.lists(st.text(max_size=2), max_size=2)),
    )

    def containers(inner: st.SearchStrategy) -> st.SearchStrategy:
        many = st.lists(inner, max_size=4)
        return st.one_of(
            st.tuples(st.sampled_from(["l", "t"]), many),
            st.tuples(st.just("d"), many, many),
            st.tuples(st.just("r"), st.text(max_size=4), st.lists(st.text(max_size=3)), many),
            st.tuples(st.just("m"), st.text(max_size=4), many),
            st.tuples(TAGS, ANYTHING),
        )

    return st.recursive(leaf, containers, max_leaves=12)


def read(header: bytes, body: bytes):
    """The decoded value, or None for a protocol error; another exception fails the test."""
    try:
        return decode(header, bytearray(body))
    except ProtocolError:
        return None


def check(value) -> None:
    """Only plain things arrive, and arrays that NumPy itself would have made."""
    if isinstance(value, np.ndarray):
        assert type(value) is np.ndarray
        assert value.dtype in wire.DTYPES.values()
        assert value.nbytes == math.prod(value.shape) * value.dtype.itemsize
        assert value.flags.owndata or value.base is not None
    elif isinstance(value, dict):
        for key, item in value.items():
            assert isinstance(key, str | int | float | bool | None)
            check(item)
    elif isinstance(value, list | tuple):
        for item in value:
            check(item)
    elif isinstance(value, wire.Record):
        assert len(value.fields) == len(value.values)
        check(value.values)
    else:
        plain = str | int | float | bool | bytes | None
        assert isinstance(value, plain | wire.Opaque | wire.KeySpec | wire.Ref | wire.Made)


@given(st.binary(max_size=200), st.binary(max_size=40))
def test_any_bytes_are_a_value_or_a_protocol_error(header, body):
    check(read(header, body))


@given(ANYTHING, st.binary(max_size=40))
def test_any_msgpack_is_a_value_or_a_protocol_error(message, body):
    check(read(msgspec.msgpack.encode(message), body))


@settings(max_examples=400)
@given(nodes(), st.binary(max_size=64))
@example(("a", "float32", [0, 2**62, 2**62]), b"")
@example(("a", "float32", [2**62, 4]), b"")
@example(("a", "float32", [-1, -4]), b"x" * 16)
@example(("a", "object", [1]), b"x" * 8)
@example(("b", 2**62), b"x")
@example(("d", [("l", [])], [1]), b"")
@example(("d", [float("nan"), float("nan")], [1, 2]), b"")
@example(("r", "R", ["values", "fields", "__class__"], [1, 2, 3]), b"")
def test_any_nearly_right_message_is_a_value_or_a_protocol_error(message, body):
    check(read(msgspec.msgpack.encode(message), body))


@settings(max_examples=50, deadline=None)
@given(
    st.integers(1, 200_000),
    st.sampled_from([b"\x92\xa1l\x91", b"\x91", b"\x81\xa1a", b"\xdc\x00\x01"]),
)
@example(200_000, b"\x92\xa1l\x91")
def test_depth_is_bounded(depth, opening):
    assert read(opening * depth + b"\xc0", b"") is None or depth <= wire.MAX_DEPTH


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(b"\xdd\xff\xff\xff\xff", id="list of four billion"),
        pytest.param(b"\xdf\xff\xff\xff\xff", id="map of four billion"),
        pytest.param(b"\xdb\xff\xff\xff\xff", id="text of four gigabytes"),
        pytest.param(b"\x92\xa1l\xdd\x7f\xff\xff\xff", id="list node of two billion"),
        pytest.param(b"\x93\xa1a\xa7float32\xdd\x7f\xff\xff\xff", id="shape of two billion"),
        pytest.param(b"\xc9\xff\xff\xff\xff\x01", id="extension of four gigabytes"),
    ],
)
def test_announced_sizes_cost_nothing(header):
    tracemalloc.start()
    try:
        assert read(header, b"") is None
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_the_largest_header_costs_bounded_time_and_memory():
    items = b"\x90" * (wire.MAX_HEADER - 16)
    header = b"\x92\xa1l\xdd" + struct.pack(">I", len(items)) + items
    started = time.monotonic()
    tracemalloc.start()
    try:
        read(header, b"")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 512 << 20
    assert time.monotonic() - started < 30


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.binary(max_size=64), max_size=5), st.booleans())
def test_a_channel_gives_a_value_or_one_of_its_errors(parts, closes):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for part in parts:
            theirs.sendall(part)
        if closes:
            theirs.close()
        try:
            check(Channel(ours).receive(time.monotonic() + 0.01))
        except (Timeout, Disconnected, ProtocolError):
            pass


class Puppet:
    """A worker whose every reply is chosen."""

    def __init__(self, reply) -> None:
        self._reply = reply

    def request(self, message, deadline):
        if not isinstance(self._reply, dict):
            raise WorkerGarbled("no message")  # as `WorkerProcess.request` does
        return self._reply

    def output(self) -> str:
        return ""

    def close(self) -> None:
        pass


REPLIES = st.dictionaries(
    st.sampled_from(["value", "error", "changed", "grader_error", "id", "x"]), ANYTHING, max_size=4
)
ERRORS = st.dictionaries(
    st.sampled_from(["type", "bases", "message", "frames"]),
    st.one_of(ANYTHING, st.lists(st.tuples(ANYTHING, ANYTHING, ANYTHING, ANYTHING), max_size=3)),
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(REPLIES, st.fixed_dictionaries({"error": ERRORS})))
@example({"error": {"bases": [[], {}]}})
@example({"error": {"type": "\x1b[2J", "message": "\n" * 50}})
@example({"grader_error": "the machine broke"})
@example({"changed": ({}, "0", "1", "params", "one")})
def test_any_reply_is_a_value_or_the_students_fault(reply):
    """Never another exception: that would read as a fault of the grader's, and save the points."""
    raised: list[StudentFault] = []
    student = Student("generic_mlp", {}, lambda: (Puppet(reply), "/tmp"))
    for use in (
        lambda: student.num_layers({}),
        lambda: student.get("EXPLANATION"),
        lambda: student.keep.make_optimizer(),
        lambda: student.fetch(wire.Ref(1)),
    ):
        try:
            use()
            assert isinstance(student.changed, tuple)
            assert set(student.changed) <= {"0"}
        except StudentFault as fault:
            raised.append(fault)
    for fault in raised:
        assert fault.outcome == "error"
        assert len(fault.message) < 2000
