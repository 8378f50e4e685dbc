"""A worker's own view of processes, mounts, shared memory and network, without privilege."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path

from grader.sandbox.system import check, libc, syscall
from grader.sandbox.tree import PROC

TMPFS_BYTES = 64 << 20
TMPFS_FILES = 4096
SCRATCH = "/mnt"  # where a mount is prepared before it is moved to its place

_NEW_MOUNTS, _NEW_IPC, _NEW_USER = 0x00020000, 0x08000000, 0x10000000
_NEW_PIDS, _NEW_NETWORK = 0x20000000, 0x40000000
_NO_SUID, _NO_DEVICES, _READ_ONLY, _REMOUNT = 2, 4, 1, 32
_MOUNT_SETATTR, _HERE, _ALL_BELOW = 442, -100, 0x8000
_BIND, _MOVE, _RECURSIVE, _PRIVATE = 4096, 8192, 16384, 1 << 18


def unshare_processes() -> None:
    """Makes the next child of this process the first process of a PID namespace.

    Raises:
      ConfinementError: user namespaces are refused here.
    """
    _unshare(_NEW_USER | _NEW_PIDS)


def enter(readable: Sequence[str], *, scratch: str, network: bool) -> None:
    """Gives this process an empty /tmp of limited size and next to nothing in /proc.

    What is `readable` below /tmp stays visible there, read-only. `scratch` is any folder that
    exists and is not needed later. `network=True` also cuts the network off, for where that has
    not been done.

    Raises:
      ConfinementError: user namespaces are refused, or a mount is.
    """
    # Held open by descriptor: a new user namespace needs this before /proc is covered.
    proc = {name: Path("/proc", name).read_bytes() for name in PROC if Path("/proc", name).exists()}
    _unshare(_NEW_USER | _NEW_MOUNTS | _NEW_IPC | (_NEW_NETWORK if network else 0))
    _mount("", "/", "", _RECURSIVE | _PRIVATE)

    _tmpfs(scratch, f"size={TMPFS_BYTES},nr_inodes={TMPFS_FILES},mode=0700")
    for path in readable:
        if path.startswith("/tmp/") and os.path.exists(path):
            _bind(path, scratch + path.removeprefix("/tmp"))
    _mount(scratch, "/tmp", "", _MOVE)

    _tmpfs("/proc", "size=1M,mode=0755")
    for name, content in proc.items():
        Path("/proc", name).write_bytes(content)
    _mount("", "/proc", "", _REMOUNT | _READ_ONLY | _NO_SUID | _NO_DEVICES)


def _unshare(flags: int) -> None:
    user, group = os.geteuid(), os.getegid()
    check(libc().unshare(flags), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _tmpfs(target: str, options: str) -> None:
    _mount("tmpfs", target, "tmpfs", _NO_SUID | _NO_DEVICES, options)


def _bind(path: str, target: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(path):
        os.symlink(os.readlink(path), target)
        return
    os.mkdir(target) if os.path.isdir(path) else Path(target).touch()
    _mount(path, target, "", _BIND | _RECURSIVE)
    wanted = (ctypes.c_uint64 * 4)(_READ_ONLY, 0, 0, 0)
    arguments = (
        _HERE,
        os.fsencode(target),
        _ALL_BELOW,
        ctypes.byref(wanted),
        ctypes.sizeof(wanted),
    )
    check(syscall(_MOUNT_SETATTR, *arguments), f"read-only mount on {target}")


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    parts = (os.fsencode(part) for part in (source, target, kind))
    result = libc().mount(*parts, flags, options.encode())
    check(result, f"mount on {target}")
