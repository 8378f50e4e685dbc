"""The module in the test process itself, so that print(), breakpoint() and a debugger work.

`pytest tests/visible --in-process` uses it. It makes no verdict: the tests share the process with
the code that they test.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from grader.exercises import ROOT
from grader.wire import Writer, decode
from grader.worker import Worker, as_numpy


class InProcess:
    """Answers requests like a worker process, through the same encoding, without a process."""

    def __init__(self) -> None:
        self._before = os.getcwd(), list(sys.path)
        sys.path.append(str(ROOT / "exercises"))  # the given module, where the folder has none
        self._worker = Worker()

    def request(self, message: Mapping[str, Any], deadline: float) -> dict[str, Any]:
        reply: dict[str, Any] = _through_wire(self._worker.reply(_through_wire(message)))
        return reply

    def output(self) -> str:
        return ""

    def close(self) -> None:
        folder, sys.path[:] = self._before
        os.chdir(folder)


def _through_wire(value: Any) -> Any:
    """What the other end of a channel would have received."""
    _, header, *body = Writer(as_numpy).frame(value)
    return decode(bytes(header), bytearray(b"".join(body)))
