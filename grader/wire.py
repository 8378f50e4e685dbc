"""The encoding between the trusted process and a worker.

A frame is two 4-byte big-endian lengths, a msgpack header, and a body of raw array bytes. The
header holds the structure and is small, so a hostile frame cannot make the reader build millions of
objects; the body holds the arrays. Nothing is pickled and nothing that arrives is code: what cannot
be said in these nodes arrives as an `Opaque` with the name of its type.
"""

from __future__ import annotations

import math
import os
import selectors
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

import ml_dtypes
import msgspec
import numpy as np

MAX_HEADER = 1 << 20
MAX_BODY = 256 << 20
MAX_DEPTH = 40
_LENGTHS = struct.Struct(">II")

DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
}
DTYPES["bfloat16"] = np.dtype(ml_dtypes.bfloat16)


class ProtocolError(Exception):
    """What arrived is not a well-formed message within its bounds."""


class Disconnected(ProtocolError):
    """The other end closed the channel."""


class Timeout(Exception):
    """The deadline passed before a whole frame had arrived."""


class Opaque(msgspec.Struct, array_like=True, tag="o", frozen=True):
    """Something that has no plain form, by the name of its type."""

    type_name: str


class Record(msgspec.Struct, array_like=True, tag="r", frozen=True):
    """A NamedTuple: its type's name, its fields and their values, read as attributes."""

    type_name: str
    fields: tuple[str, ...]
    values: tuple[Any, ...]

    def __getattr__(self, name: str) -> Any:
        if name in self.fields:
            return self.values[self.fields.index(name)]
        raise AttributeError(name)


class KeySpec(msgspec.Struct, array_like=True, tag="k", frozen=True):
    """A PRNG key, or `count` keys on a leading axis, that the worker is to make from `seed`."""

    seed: int
    typed: bool = False
    count: int | None = None


class Ref(msgspec.Struct, array_like=True, tag="h", frozen=True):
    """A value kept in the worker, or a part of one: fields and indices lead from it to the part."""

    number: int
    path: tuple[str | int, ...] = ()

    def __getattr__(self, name: str) -> Ref:
        if name.startswith("_"):
            raise AttributeError(name)
        return Ref(self.number, (*self.path, name))

    def __getitem__(self, index: int | str) -> Ref:
        return Ref(self.number, (*self.path, index))


class Made(msgspec.Struct, array_like=True, tag="m", frozen=True):
    """A value that the worker makes by calling the probe `name` with `args`."""

    name: str
    args: tuple[Any, ...] = ()


class _Array(msgspec.Struct, array_like=True, tag="a", frozen=True):
    dtype: str
    shape: tuple[int, ...]


class _List(msgspec.Struct, array_like=True, tag="l", frozen=True):
    items: tuple[Node, ...]


class _Tuple(msgspec.Struct, array_like=True, tag="t", frozen=True):
    items: tuple[Node, ...]


class _Dict(msgspec.Struct, array_like=True, tag="d", frozen=True):
    keys: tuple[Node, ...]
    values: tuple[Node, ...]


class _Bytes(msgspec.Struct, array_like=True, tag="b", frozen=True):
    length: int


class _Record(msgspec.Struct, array_like=True, tag="r", frozen=True):
    type_name: str
    fields: tuple[str, ...]
    values: tuple[Node, ...]


class _Made(msgspec.Struct, array_like=True, tag="m", frozen=True):
    name: str
    args: tuple[Node, ...]


Node = (
    _Array
    | _List
    | _Tuple
    | _Dict
    | _Bytes
    | _Record
    | _Made
    | KeySpec
    | Ref
    | Opaque
    | str
    | int
    | float
    | bool
    | None
)

_ENCODER = msgspec.msgpack.Encoder()
_DECODER: msgspec.msgpack.Decoder[Node] = msgspec.msgpack.Decoder(Node)


class Writer:
    """Turns values into a frame. `arrays` converts what is not NumPy's (a `jax.Array`) to NumPy."""

    def __init__(self, arrays: Callable[[Any], np.ndarray | Opaque | None] | None = None) -> None:
        self._arrays = arrays
        self._body: list[memoryview | bytes] = []

    def frame(self, value: Any) -> list[memoryview | bytes]:
        """The frame of `value` as buffers to be sent in order.

        Raises:
          ProtocolError: it is larger or deeper than a frame may be.
        """
        self._body = []
        header = _ENCODER.encode(self._node(value, 0))
        size = sum(len(part) for part in self._body)
        if len(header) > MAX_HEADER:
            raise ProtocolError(
                "it is too large to send; an array takes less room than a list of numbers"
            )
        if size > MAX_BODY:
            raise ProtocolError(f"it is too large to send ({size:,} bytes)")
        return [_LENGTHS.pack(len(header), size), header, *self._body]

    def _node(self, value: Any, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise ProtocolError(f"the value is nested more than {MAX_DEPTH} deep")
        kind = type(value)
        if value is None or kind in (bool, float, str, KeySpec, Ref, Opaque):
            return value
        if kind is int:
            return value if -(2**63) <= value < 2**64 else Opaque("int beyond 64 bits")
        if kind in (bytes, bytearray):
            self._body.append(bytes(value))
            return _Bytes(len(value))
        if isinstance(value, Made):
            return _Made(value.name, self._nodes(value.args, depth))
        if isinstance(value, Record):
            return _Record(value.type_name, value.fields, self._nodes(value.values, depth))
        if isinstance(value, np.ndarray | np.generic):
            return self._array(np.asarray(value))
        if isinstance(value, dict):
            return _Dict(self._nodes(value.keys(), depth), self._nodes(value.values(), depth))
        if isinstance(value, tuple):
            fields = getattr(value, "_fields", None)
            if fields is not None:
                return _Record(kind.__name__, tuple(map(str, fields)), self._nodes(value, depth))
            return _Tuple(self._nodes(value, depth))
        if isinstance(value, list):
            return _List(self._nodes(value, depth))
        converted = self._arrays(value) if self._arrays else None
        if isinstance(converted, np.ndarray):
            return self._array(converted)
        return converted if isinstance(converted, Opaque) else Opaque(kind.__name__)

    def _nodes(self, values: Any, depth: int) -> tuple[Node, ...]:
        return tuple(self._node(value, depth + 1) for value in values)

    def _array(self, array: np.ndarray) -> Node:
        name = array.dtype.name
        if DTYPES.get(name) != array.dtype:
            return Opaque(f"array of dtype {name}")
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self._body.append(data.data)
        return _Array(name, array.shape)


class _Reader:
    """Turns a header and a body back into values, checking every size against the body."""

    def __init__(self, body: bytearray, plain: bool) -> None:
        self._body = memoryview(body)
        self._plain = plain
        self._offset = 0

    def value(self, node: Node, depth: int = 0) -> Any:
        if depth > MAX_DEPTH:
            raise ProtocolError(f"a value nested more than {MAX_DEPTH} deep")
        match node:
            case KeySpec() | Ref() | _Made() if self._plain:
                raise ProtocolError("what only the grader says")
            case _Array():
                return self._array(node)
            case _List():
                return self._values(node.items, depth)
            case _Tuple():
                return tuple(self._values(node.items, depth))
            case _Dict():
                if len(node.keys) != len(node.values):
                    raise ProtocolError("a dictionary with keys and values of unequal number")
                keys = self._values(node.keys, depth)
                if not all(isinstance(key, str | int | float | bool | None) for key in keys):
                    raise ProtocolError("a dictionary whose keys are not plain")
                return dict(zip(keys, self._values(node.values, depth), strict=True))
            case _Bytes():
                return bytes(self._take(node.length))
            case _Record():
                if len(node.fields) != len(node.values):
                    raise ProtocolError("a record with fields and values of unequal number")
                values = tuple(self._values(node.values, depth))
                return Record(node.type_name, node.fields, values)
            case _Made():
                return Made(node.name, tuple(self._values(node.args, depth)))
            case _:
                return node

    def _values(self, nodes: tuple[Node, ...], depth: int) -> list[Any]:
        return [self.value(node, depth + 1) for node in nodes]

    def finish(self) -> None:
        if self._offset != len(self._body):
            raise ProtocolError("bytes are left over behind the last array")

    def _take(self, length: int) -> memoryview:
        if length < 0 or self._offset + length > len(self._body):
            raise ProtocolError("an array reaches beyond its frame")
        part = self._body[self._offset : self._offset + length]
        self._offset += length
        return part

    def _array(self, node: _Array) -> np.ndarray:
        dtype = DTYPES.get(node.dtype)
        if dtype is None or len(node.shape) > 32 or any(size < 0 for size in node.shape):
            raise ProtocolError("an array of unknown dtype or impossible shape")
        data = self._take(math.prod(node.shape) * dtype.itemsize)
        try:
            return np.frombuffer(data, np.uint8).copy().view(dtype).reshape(node.shape)
        except ValueError as error:  # e.g. shapes such as (0, 2**62, 2**62)
            raise ProtocolError("an array of impossible shape") from error


def decode(header: bytes | bytearray, body: bytearray, plain: bool = False) -> Any:
    """The value of one frame.

    `plain` refuses what stands for values that a worker is to make or keeps. No worker says it, and
    a `Ref`, which has every attribute and item, would keep a loop over it from ending.

    Raises:
      ProtocolError: the frame is malformed or out of bounds. Never another exception.
    """
    try:
        reader = _Reader(body, plain)
        value = reader.value(_DECODER.decode(header))
        reader.finish()
        return value
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ProtocolError(f"malformed message: {type(error).__name__}") from error


class Channel:
    """One end of the socket between the trusted process and a worker."""

    def __init__(
        self,
        sock: socket.socket,
        arrays: Callable[[Any], np.ndarray | Opaque | None] | None = None,
        plain: bool = False,
    ) -> None:
        """`plain`: what arrives comes from a worker; see `decode`."""
        self._socket = sock
        self._arrays = arrays
        self._plain = plain

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def send(self, value: Any, deadline: float | None = None) -> None:
        """Sends one value; `deadline` is on the clock of `time.monotonic`, None waits for ever."""
        parts = Writer(self._arrays).frame(value)
        try:
            for part in parts:
                self._send_all(memoryview(part), deadline)
        except OSError as error:
            raise Disconnected("the other end is gone") from error

    def receive(self, deadline: float | None = None) -> Any:
        """Receives one value.

        Raises:
          ProtocolError: malformed, too large; `Disconnected` when the channel was closed.
          Timeout: the whole frame had not arrived by `deadline`.
        """
        header_size, body_size = _LENGTHS.unpack(self._read(_LENGTHS.size, deadline))
        if header_size > MAX_HEADER or body_size > MAX_BODY:
            raise ProtocolError("a message beyond its bounds")
        header = self._read(header_size, deadline)
        return decode(header, self._read(body_size, deadline), self._plain)

    def _send_all(self, data: memoryview, deadline: float | None) -> None:
        while data:
            self._wait(selectors.EVENT_WRITE, deadline)
            try:
                data = data[self._socket.send(data[: 1 << 20], socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                continue

    def _read(self, size: int, deadline: float | None) -> bytearray:
        # Grown as bytes arrive: a header that promises a lot costs nothing until it is sent.
        data = bytearray()
        while len(data) < size:
            self._wait(selectors.EVENT_READ, deadline)
            try:
                part = self._socket.recv(min(size - len(data), 1 << 20), socket.MSG_DONTWAIT)
            except BlockingIOError:
                continue
            except OSError as error:
                raise Disconnected("the other end is gone") from error
            if not part:
                raise Disconnected("the other end closed the channel")
            data += part
        return data

    def _wait(self, event: int, deadline: float | None) -> None:
        if deadline is None:
            timeout = None
        elif (timeout := deadline - time.monotonic()) <= 0:
            raise Timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, event)
            if not selector.select(timeout):
                raise Timeout


def channel_pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets with room for a large frame, so that few wake-ups carry it."""
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, option, 1 << 20)
    os.set_inheritable(theirs.fileno(), True)
    return ours, theirs
