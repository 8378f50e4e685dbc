"""The process that runs a student's module: it answers calls and knows nothing of any test.

Everything here can be read and changed by the code that it runs. So nothing secret is here, and
nothing that it says is believed without a check on the other side.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import linecache
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from grader.footprint import Footprint
from grader.wire import Channel, Disconnected, KeySpec, Made, Opaque, ProtocolError, Record, Ref

MAX_TEXT = 4000
MAX_FRAMES = 30


class Worker:
    """A student's module and what is kept for the calls to come."""

    def __init__(self) -> None:
        self._directory = ""
        self._files: list[str] = []
        self._footprint: Footprint | None = None
        self._module: Any = None
        self._kept: dict[int, Any] = {}

    def serve(self, channel: Channel) -> None:
        """Answers on `channel` until the other end closes it."""
        with contextlib.suppress(Disconnected):
            while True:
                request = channel.receive()
                reply = {"id": request["id"]}
                try:
                    channel.send(reply | self.reply(request))
                except Disconnected:
                    raise
                except ProtocolError as error:  # too large, too deep: raised before a byte was sent
                    channel.send(reply | {"error": self._describe(error)})

    def reply(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Does what `request` asks; whatever the student's code raises becomes the reply."""
        try:
            match request["do"]:
                case "load":
                    self._load(request["directory"], request["files"], request["module"])
                    return {"value": None}
                case "call":
                    return self._call(request)
                case "reset":
                    return {"value": self._reset()}
                case "fetch":
                    return {"value": plain(self._value(request["value"]))}
                case "environment":
                    return {"value": environment()}
                case other:
                    raise ValueError(f"no such request: {other}")
        except (
            BaseException
        ) as error:  # SystemExit and KeyboardInterrupt too: a verdict, not an end
            return {"error": self._describe(error)}

    def _load(self, directory: str, files: Mapping[str, bytes], module: str) -> None:
        self._directory = os.path.realpath(directory)
        self._files = list(files)
        for name, source in files.items():
            Path(directory, name).write_bytes(source)
        os.chdir(directory)
        sys.path.insert(0, self._directory)
        importlib.invalidate_caches()
        self._module = importlib.import_module(module)

    def _reset(self) -> bool:
        """Forgets the module; returns whether the process is as it was at the first reset."""
        self._footprint = self._footprint or Footprint()
        with contextlib.suppress(ValueError):
            sys.path.remove(self._directory)
        for name in self._files:
            sys.modules.pop(Path(name).stem, None)
            Path(self._directory, name).unlink(missing_ok=True)
        self._module, self._kept = None, {}
        linecache.clearcache()
        gc.collect()  # what JAX has compiled for the module goes with its functions
        return self._footprint.is_unchanged()

    def _call(self, request: Mapping[str, Any]) -> dict[str, Any]:
        args = [self._value(value) for value in request["args"]]
        kwargs = {name: self._value(value) for name, value in request["kwargs"].items()}
        function = self._target(*request["target"])
        for name, options in reversed(request["under"]):
            function = _TRANSFORMS[name](function, **self._value(options))
        before = _Snapshot({**{str(i): arg for i, arg in enumerate(args)}, **kwargs})
        result = function(*args, **kwargs)
        reply: dict[str, Any] = {"changed": before.changed()}
        if request["keep"] is None:
            reply["value"] = plain(result)
        else:
            self._kept[request["keep"]] = _ready(result)
        return reply

    def _target(self, kind: str, name: Any) -> Any:
        if kind == "attribute":
            return lambda: getattr(self._module, name)
        if kind == "function":
            return getattr(self._module, name)
        if kind == "kept":
            return self._value(name)
        probe = _probe(name)
        return lambda *args, **kwargs: probe(self._module, *args, **kwargs)

    def _value(self, value: Any) -> Any:
        """What the other side's description stands for here; NumPy arrays become JAX's."""
        import jax
        import jax.numpy as jnp

        match value:
            case np.ndarray():
                return jnp.asarray(value)
            case KeySpec():
                make = jax.random.key if value.typed else jax.random.PRNGKey
                made = make(value.seed)
                return made if value.count is None else jax.random.split(made, value.count)
            case Ref():
                kept = self._kept[value.number]
                for step in value.path:
                    kept = _part(kept, step)
                return kept
            case Made():
                return _probe(value.name)(*map(self._value, value.args))
            case dict():
                return {key: self._value(item) for key, item in value.items()}
            case list() | tuple():
                return type(value)(self._value(item) for item in value)
            case _:
                return value

    def _describe(self, error: BaseException) -> dict[str, Any]:
        """The error as text, with the frames that lie in the student's own files."""
        frames = []
        for frame, line in traceback.walk_tb(error.__traceback__):
            path = os.path.realpath(frame.f_code.co_filename)
            if os.path.dirname(path) == self._directory:
                text = linecache.getline(path, line).strip()
                frames.append((os.path.basename(path), line, frame.f_code.co_name, text[:200]))
        if isinstance(error, SyntaxError) and error.filename:
            path = os.path.realpath(error.filename)
            if os.path.dirname(path) == self._directory:
                text = (error.text or "").strip()[:200]
                frames.append((os.path.basename(path), error.lineno or 0, "<module>", text))
        return {
            "type": type(error).__name__,
            "bases": [base.__name__ for base in type(error).__mro__[:8]],
            "message": _text(error),
            "frames": frames[-MAX_FRAMES:],
        }


def environment() -> dict[str, str]:
    """What this process computes with; starts the backend."""
    import jax

    device = jax.devices()[0]
    return {"jax": jax.__version__, "backend": device.platform, "device": device.device_kind}


def as_numpy(value: Any) -> np.ndarray | Opaque | None:
    """`value` as NumPy where it is an array of JAX; None where it is something else."""
    import jax
    import jax.numpy as jnp

    if not isinstance(value, jax.Array):
        return None
    if isinstance(value, jax.core.Tracer):
        return Opaque("leaked tracer")
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        return Opaque("PRNG key array")
    return np.asarray(value)


def plain(value: Any) -> Any:
    """A copy of `value` in which every array is NumPy's, made while errors can still be told."""
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        fields = tuple(map(str, value._fields))
        return Record(type(value).__name__, fields, tuple(map(plain, value)))
    if isinstance(value, list | tuple):
        return [plain(x) for x in value] if isinstance(value, list) else tuple(map(plain, value))
    if value is None or isinstance(value, str | bool | int | float | bytes | Record | np.generic):
        return value
    converted = as_numpy(value)
    return Opaque(type(value).__name__) if converted is None else converted


class _Snapshot:
    """What the arguments of a call held before it, to tell which of them the call changed."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._arguments = dict(arguments)
        self._before = {name: self._state(value) for name, value in arguments.items()}

    def changed(self) -> tuple[str, ...]:
        return tuple(
            name
            for name, value in self._arguments.items()
            if not _equal(self._state(value), self._before[name])
        )

    def _state(self, value: Any) -> Any:
        import jax

        if isinstance(value, dict):
            return ("dict", [(key, self._state(item)) for key, item in value.items()])
        if isinstance(value, list | tuple):
            return (type(value), [self._state(item) for item in value])
        if isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer):
            return ("array", value, value.is_deleted())
        if isinstance(value, np.ndarray):
            return ("numpy", value.tobytes())
        return ("object", value)


def _equal(first: Any, second: Any) -> bool:
    """Equality of states in which arrays and objects count by identity."""
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_equal, first, second))
    if isinstance(first, str | bytes | bool | int | float):
        return type(first) is type(second) and (first == second or first != first)
    return first is second


def _ready(value: Any) -> Any:
    """`value` once its arrays are computed, so that the time of a kept call is all of it."""
    import jax

    for leaf in jax.tree.leaves(value):
        if isinstance(leaf, jax.Array):
            leaf.block_until_ready()
    return value


def _part(value: Any, step: str | int) -> Any:
    if isinstance(step, str) and not isinstance(value, Mapping):
        return getattr(value, step)
    return value[step]


def _probe(name: str) -> Any:
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(f"grader.probes.{module or 'common'}"), function)


def _text(error: BaseException) -> str:
    try:
        return str(error)[:MAX_TEXT]
    except BaseException:  # a hostile __str__
        return "(the exception's own text raised an exception)"


def _jit(function: Callable[..., Any], static: tuple[int, ...]) -> Callable[..., Any]:
    import jax

    return jax.jit(function, static_argnums=static)


def _vmap(function: Callable[..., Any], in_axes: Any) -> Callable[..., Any]:
    import jax

    return jax.vmap(function, in_axes=in_axes)


def _grad(function: Callable[..., Any], argnums: int) -> Callable[..., Any]:
    import jax

    return jax.grad(function, argnums=argnums)


def _vjp(function: Callable[..., Any], cotangent: Any, argnums: int) -> Callable[..., Any]:
    import jax

    def pullback(*args: Any) -> Any:
        def of_one(value: Any) -> Any:
            return function(*args[:argnums], value, *args[argnums + 1 :])

        return jax.vjp(of_one, args[argnums])[1](cotangent)[0]

    return pullback


_TRANSFORMS: dict[str, Callable[..., Callable[..., Any]]] = {
    "jit": _jit,
    "vmap": _vmap,
    "grad": _grad,
    "vjp": _vjp,
}
