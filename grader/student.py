"""The student's module as a graded test sees it: a proxy whose functions run in a worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from grader.launch import WorkerCrashed, WorkerGarbled, WorkerTimeout
from grader.report.model import Outcome
from grader.values import Transform
from grader.wire import Ref
from grader.worker import MAX_FRAMES, MAX_TEXT


class StudentFault(Exception):
    """The student's code gave no value: the item's `outcome`, and the text for the student."""

    def __init__(self, outcome: Outcome, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.outcome, self.message, self.detail = outcome, message, detail


@dataclass(frozen=True)
class Frame:
    """One line of the student's own files in a traceback."""

    file: str
    line: int
    function: str
    text: str


class StudentRaised(StudentFault):
    """The student's code raised an exception."""

    def __init__(
        self,
        type_name: str,
        text: str,
        frames: Sequence[Frame],
        bases: Sequence[str] = (),
        call: str = "",
    ) -> None:
        from grader.explain import explain

        self.type_name, self.text, self.bases = type_name, text, tuple(bases)
        self.frames = tuple(frames)
        message = explain(type_name, text, self.bases, call, bool(frames))
        lines = [f"  {f.file}, line {f.line}, in {f.function}: {f.text}" for f in frames]
        super().__init__("error", message, "\n".join([*lines, f"{type_name}: {text}"]))


class Connection(Protocol):
    """Somewhere that the student's module can be loaded and called."""

    def request(self, message: Mapping[str, Any], deadline: float) -> dict[str, Any]: ...
    def output(self) -> str: ...
    def close(self) -> Any: ...


class Student:
    """The functions of one module, called in a worker that is replaced when it dies.

    `student.name(*args)` calls the function `name`; see `under`, `keep`, `run`, `call`, `fetch` and
    `get` for the rest. Every call ends by the item's deadline.

    Attributes:
      changed: the arguments (positions as text, or names) that the last call changed in place,
        deleted or donated.
      seconds: elapsed seconds of the last call, by the trusted side's clock, until its result
        (a kept one too) is ready.
    """

    def __init__(
        self,
        module: str,
        files: Mapping[str, bytes],
        connect: Callable[[], tuple[Connection, str]],
    ) -> None:
        self._module, self._files, self._connect = module, dict(files), connect
        self._connection: Connection | None = None
        self._directory = ""
        self._is_loaded = False
        self._import_fault: StudentFault | None = None
        self._deadline = float("inf")
        self._kept = 0
        self.changed: tuple[str, ...] = ()
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self._call(("function", name), args, kwargs)

    def under(self, *transforms: Transform) -> _Under:
        """The functions under transformations of JAX, the first being the outermost."""
        return _Under(self, transforms, keep=False)

    @property
    def keep(self) -> _Under:
        """The functions with results that stay in the worker: a call gives a `Ref`."""
        return _Under(self, (), keep=True)

    def run(self, probe: str, *args: Any, **kwargs: Any) -> Any:
        """Runs a probe of `grader/probes` on the student's module, in the worker."""
        return self._call(("probe", probe), args, kwargs)

    def keep_run(self, probe: str, *args: Any, **kwargs: Any) -> Ref:
        """`run`, its result staying in the worker."""
        return self._keep(("probe", probe), args, kwargs)

    def call(self, function: Ref, *args: Any, **kwargs: Any) -> Any:
        """Calls a function that was kept in the worker."""
        return self._call(("kept", function), args, kwargs)

    def keep_call(self, function: Ref, *args: Any, **kwargs: Any) -> Ref:
        """`call`, its result staying in the worker."""
        return self._keep(("kept", function), args, kwargs)

    def fetch(self, ref: Ref) -> Any:
        """The value of something kept in the worker."""
        return self._request({"do": "fetch", "value": ref}, "fetch").get("value")

    def get(self, name: str) -> Any:
        """The module's attribute `name` as a value, not called."""
        return self._call(("attribute", name), (), {})

    def prepare(self) -> None:
        """Has a worker stand by, so that starting it takes none of the student's time."""
        if self._connection is None and self._import_fault is None:
            self._connection, self._directory = self._connect()
            self._is_loaded = False

    def begin(self, deadline: float) -> None:
        """Sets the deadline (on `time.monotonic`'s clock) of the calls to come."""
        self._deadline = deadline

    def output(self) -> str:
        """The last of what the module printed in its current worker."""
        return self._connection.output() if self._connection else ""

    def close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None

    def _keep(self, target: tuple[str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Ref:
        kept = self._call(target, args, kwargs, keep=True)
        assert isinstance(kept, Ref)
        return kept

    def _call(
        self,
        target: tuple[str, Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        under: Sequence[Transform] = (),
        keep: bool = False,
    ) -> Any:
        number = None
        if keep:
            self._kept += 1
            number = self._kept
        request = {
            "do": "call",
            "target": target,
            "args": tuple(args),
            "kwargs": dict(kwargs),
            "under": tuple((transform.name, transform.options) for transform in under),
            "keep": number,
        }
        named = {"kept": "the returned function", "probe": "your code"}.get(target[0], target[1])
        self.changed = ()
        reply = self._request(request, named)
        changed = reply.get("changed")
        known = {*map(str, range(len(args))), *kwargs}
        self.changed = tuple(
            name
            for name in (changed if isinstance(changed, tuple) else ())
            if isinstance(name, str) and name in known
        )
        return reply.get("value") if number is None else Ref(number)

    def _request(self, message: Mapping[str, Any], named: str) -> dict[str, Any]:
        connection = self._loaded()
        started = time.monotonic()
        try:
            return self._send(connection, message, named)
        finally:
            self.seconds = time.monotonic() - started

    def _loaded(self) -> Connection:
        """A worker with the module imported; an import that failed once is not tried again."""
        self.prepare()
        if self._import_fault:
            raise self._import_fault.with_traceback(None)  # or it grows with every item
        if self._connection is None:
            raise RuntimeError("no worker stands by")
        if not self._is_loaded:
            load = {
                "do": "load",
                "directory": self._directory,
                "files": self._files,
                "module": self._module,
            }
            try:
                self._send(self._connection, load, "")
            except StudentFault as fault:
                self._import_fault = fault
                self.close()
                raise
            self._is_loaded = True
        return self._connection

    def _send(
        self, connection: Connection, message: Mapping[str, Any], call: str
    ) -> dict[str, Any]:
        while_ = f"in {call}" if call else f"while {self._module}.py was imported"
        try:
            reply = connection.request(message, self._deadline)
        except WorkerTimeout:
            self._connection = None
            raise StudentFault(
                "timeout",
                f"No answer in time {while_}. Look for a loop that never ends, or for work that is"
                " done over and over (compiling again at every step is the usual one).",
            ) from None
        except WorkerCrashed as fault:
            self._connection = None
            raise StudentFault(
                "crashed",
                f"The Python process ended {while_}: {fault}. Look for exit() or quit(), and for"
                " arrays far larger than you meant.",
                connection.output(),
            ) from None
        except WorkerGarbled as fault:
            self._connection = None
            raise StudentFault("error", f"What came back {while_} is no value: {fault}.") from None
        if "error" in reply:
            raise _raised(reply["error"], call or f"import {self._module}")
        return reply


class _Under:
    """A view of a student's module: calls under transformations, or with kept results."""

    def __init__(self, student: Student, transforms: Sequence[Transform], keep: bool) -> None:
        self._student, self._transforms, self._keep = student, tuple(transforms), keep

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self._student._call(
            ("function", name), args, kwargs, self._transforms, self._keep
        )

    def under(self, *transforms: Transform) -> _Under:
        return _Under(self._student, (*self._transforms, *transforms), self._keep)

    @property
    def keep(self) -> _Under:
        return _Under(self._student, self._transforms, keep=True)


def _raised(error: Any, call: str) -> StudentRaised:
    """The worker's description of an exception, believed only as far as its types go."""
    described = error if isinstance(error, dict) else {}

    def items(name: str) -> Sequence[Any]:
        value = described.get(name)
        return value[-MAX_FRAMES:] if isinstance(value, list | tuple) else ()

    name, text = described.get("type"), described.get("message")
    frames = [
        Frame(f[0][:100], f[1], f[2][:100], f[3][:200])
        for f in items("frames")
        if isinstance(f, list | tuple) and list(map(type, f)) == [str, int, str, str]
    ]
    return StudentRaised(
        name if isinstance(name, str) and name.isidentifier() else "Exception",
        text[:MAX_TEXT] if isinstance(text, str) else "",
        frames,
        [base for base in items("bases") if isinstance(base, str)],
        call,
    )
