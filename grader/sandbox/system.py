"""Calls of the Linux kernel that Python has no name for."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import sys
from pathlib import Path
from typing import Any

NOBODY = 65534  # the user and the group that are nobody's


class ConfinementError(Exception):
    """A mechanism could not be put in place; the text says which and why."""


@functools.cache
def libc() -> Any:
    """The C library, with `errno` kept for `check`."""
    return ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> int:
    """`result`, unless it is negative.

    Raises:
      ConfinementError: the call failed; the text is `what` and the error of the system.
    """
    if result < 0:
        raise ConfinementError(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def syscall(number: int, *args: Any) -> int:
    """The system call `number`; integers are passed as 64 bits, negative on failure."""
    wide = (ctypes.c_ulong(arg) if isinstance(arg, int) else arg for arg in args)
    return int(libc().syscall(ctypes.c_long(number), *wide))


def prctl(option: int, *args: Any) -> int:
    """`prctl(option, ...)`, its unused arguments zero as the kernel wants them."""
    wide = [ctypes.c_ulong(arg) if isinstance(arg, int) else arg for arg in args]
    return int(libc().prctl(option, *wide, *([ctypes.c_ulong(0)] * (4 - len(wide)))))


def machine() -> str:
    """The architecture, as the tables of this package call it: `x86_64`, `aarch64` or another."""
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())


def is_root() -> bool:
    """Whether this process is root over other users, and not one who is called 0 in a namespace."""
    if not on_linux() or os.geteuid() != 0:
        return False
    ranges = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
    return sum(int(count) for _, _, count in ranges) > NOBODY


def on_linux() -> bool:
    """Whether the mechanisms of this package can be there at all."""
    return sys.platform == "linux"
