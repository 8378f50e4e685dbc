"""What crosses between the processes: values come back as they were, anything else is refused."""

from __future__ import annotations

import threading
import time
from collections import namedtuple

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from grader import wire
from grader.wire import Channel, Disconnected, Made, Opaque, ProtocolError, Record, Ref, Timeout

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.binary(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)
numeric = arrays.arrays(
    st.sampled_from([dtype for name, dtype in wire.DTYPES.items() if name != "bfloat16"]),
    arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
)


def crossed(value: object) -> object:
    """What the other end receives."""
    _, header, *body = wire.Writer().frame(value)
    return wire.decode(bytes(header), bytearray(b"".join(body)))


@given(plain)
def test_plain_values_come_back_with_their_types(value):
    back = crossed(value)
    assert back == value
    assert repr(back) == repr(value)  # 1 is not True, (1,) is not [1]


@given(numeric)
def test_arrays_come_back_bit_for_bit(array):
    back = crossed({"array": array})["array"]
    assert type(back) is np.ndarray
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()


def test_bfloat16_and_strided_arrays_cross():
    array = np.arange(12, dtype=ml_dtypes.bfloat16).reshape(3, 4)[:, ::2].T
    back = crossed(array)
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)


def test_named_tuples_become_records_read_by_attribute():
    made = crossed(namedtuple("Run", "params losses")(1, 2.0))
    assert made == Record("Run", ("params", "losses"), (1, 2.0))
    assert made.losses == 2.0
    with pytest.raises(AttributeError):
        made.nothing  # noqa: B018


def test_what_has_no_plain_form_is_named_and_not_sent():
    assert crossed(object()) == Opaque("object")
    assert crossed(2**70) == Opaque("int beyond 64 bits")
    assert crossed(np.array(["text"], object)) == Opaque("array of dtype object")
    assert crossed(lambda: None) == Opaque("function")


def test_references_lead_to_parts():
    assert crossed(Ref(3).params["layer1"][0]) == Ref(3, ("params", "layer1", 0))
    assert crossed(Made("optimizer", ("adam", 1e-3))) == Made("optimizer", ("adam", 1e-3))


@pytest.mark.parametrize("depth", [wire.MAX_DEPTH + 1, 100_000])
def test_too_deep_a_value_is_not_sent(depth):
    value: list = []
    for _ in range(depth):
        value = [value]
    with pytest.raises(ProtocolError, match="nested"):
        wire.Writer().frame(value)


def test_too_large_a_structure_is_not_sent():
    with pytest.raises(ProtocolError, match="too large"):
        wire.Writer().frame(list(range(1_000_000)))


@given(st.binary(max_size=200), st.binary(max_size=50))
@settings(max_examples=500)
def test_any_bytes_are_a_value_or_a_protocol_error(header, body):
    try:
        wire.decode(header, bytearray(body))
    except ProtocolError:
        pass


@pytest.mark.parametrize("shape", [(-1,), (2**62, 4), (0, 2**62, 2**62), (1,) * 33, (5,)], ids=str)
def test_a_shape_that_does_not_fit_its_bytes_is_refused(shape):
    import msgspec

    header = msgspec.msgpack.encode(["a", "float32", list(shape)])
    with pytest.raises(ProtocolError):
        wire.decode(header, bytearray(16))


def test_a_channel_carries_a_large_value_in_both_directions():
    ours, theirs = (Channel(end) for end in wire.channel_pair())
    value = np.random.default_rng(0).random(2_000_000)
    echo = threading.Thread(target=lambda: theirs.send(theirs.receive()))
    echo.start()
    ours.send(value)
    assert np.array_equal(ours.receive(time.monotonic() + 30), value)
    echo.join()


def test_a_trickled_frame_ends_at_the_deadline():
    ours, theirs = wire.channel_pair()
    stop = threading.Event()

    def trickle() -> None:
        theirs.send(wire._LENGTHS.pack(1000, 0))
        while not stop.wait(0.02):
            theirs.send(b"x")

    sender = threading.Thread(target=trickle)
    sender.start()
    with pytest.raises(Timeout):
        Channel(ours).receive(time.monotonic() + 0.3)
    stop.set()
    sender.join()


def test_promised_gigabytes_are_refused_before_they_come():
    ours, theirs = wire.channel_pair()
    theirs.send(wire._LENGTHS.pack(2**32 - 1, 2**32 - 1))
    with pytest.raises(ProtocolError, match="beyond its bounds"):
        Channel(ours).receive(time.monotonic() + 30)


def test_a_closed_channel_is_told_from_a_malformed_one():
    ours, theirs = wire.channel_pair()
    theirs.close()
    with pytest.raises(Disconnected):
        Channel(ours).receive(time.monotonic() + 30)


@pytest.mark.parametrize("value", [Ref(3), wire.KeySpec(1), Made("optimizer")], ids=repr)
def test_what_only_the_grader_says_is_no_reply(value):
    """A `Ref` has every attribute and item: a loop over one would not end."""
    ours, theirs = (Channel(end, plain=True) for end in wire.channel_pair())
    theirs.send({"value": [1, value]})
    with pytest.raises(ProtocolError, match="only the grader"):
        ours.receive(time.monotonic() + 30)
