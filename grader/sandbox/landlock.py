"""File access by allow-list, for a process that gives up the rest of the file tree by itself.

Landlock needs no privilege and no namespace, so it works in containers where bubblewrap does not.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable, Sequence

from grader.sandbox.system import ConfinementError, check, on_linux, prctl, syscall

MIN_ABI = 3  # the first that can forbid truncation
SCOPE_ABI = 6  # the first that can forbid signals and abstract sockets to the outside
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38

# Rights on files, by bit.
_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_READ = _READ_FILE | _READ_DIR
_WRITE = _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _REFER | _TRUNCATE
_OF_FILES = _WRITE_FILE | _READ_FILE | _TRUNCATE


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def abi() -> int:
    """The version of Landlock that the kernel has, 0 where it has none or has it switched off."""
    return max(0, syscall(_CREATE_RULESET, 0, 0, _VERSION)) if on_linux() else 0


def restrict(readable: Iterable[str], writable: Iterable[str], devices: Sequence[str]) -> None:
    """Leaves this process the files below `readable` and `writable`, and the `devices`, for good.

    Paths that do not exist are left out. Executing is never allowed, TCP neither (from ABI 4 on),
    signals and abstract sockets only among its own (from ABI 6 on).

    Raises:
      ConfinementError: the kernel lacks Landlock, has it switched off, or refuses a rule.
    """
    version = abi()
    if version < MIN_ABI:
        raise ConfinementError(f"Landlock: ABI {version} here, {MIN_ABI} is needed")
    handled = _Ruleset(
        (1 << (16 if version >= 5 else 15)) - 1,  # bit 15 is ioctl on devices
        0b11 if version >= 4 else 0,
        0b11 if version >= SCOPE_ABI else 0,
    )
    size = 24 if version >= SCOPE_ABI else 16 if version >= 4 else 8
    ruleset = check(
        syscall(_CREATE_RULESET, ctypes.byref(handled), size, 0), "landlock_create_ruleset"
    )
    try:
        for path in readable:
            _allow(ruleset, path, _READ)
        for path in writable:
            _allow(ruleset, path, _READ | _WRITE)
        for path in devices:
            _allow(ruleset, path, _READ_FILE | _WRITE_FILE | (handled.handled_access_fs & 1 << 15))
        check(prctl(_NO_NEW_PRIVS, 1), "no_new_privs")
        check(syscall(_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _OF_FILES | 1 << 15
        rule = _PathBeneath(rights, fd)
        added = syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
        check(added, f"landlock_add_rule for {path}")
    finally:
        os.close(fd)
