"""Puts a process into its confinement before any student's code is there; nothing takes it out.

Imported by workers, so it needs the standard library only. What is to be done is in a plain
dictionary, `Sandbox.spec`, which crosses from the trusted side as JSON.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any

from grader.sandbox import landlock, namespaces, rlimits, seccomp
from grader.sandbox.system import ConfinementError, check, libc, on_linux, prctl
from grader.sandbox.tree import DEVICES, PROC

_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER = 1, 24, 36
_CAPABILITY_VERSION_3 = 0x20080522


def fork(spec: Mapping[str, Any]) -> int:
    """`os.fork` for a worker: with namespaces in `spec` the child is the first of a PID namespace.

    The child dies with the caller, and still has to call `apply`. The caller has one thread; it is
    the one to wait for the child.

    Returns:
      The child's process id as the caller sees it; 0 in the child.

    Raises:
      ConfinementError: namespaces are refused; no child is left.
    """
    if "namespaces" not in spec["layers"]:
        child = os.fork()
        if child == 0:
            _die_with_parent()
        return child
    # A PID namespace begins with a child of the process that asks for it, so a process in between
    # asks, forks the worker and ends. The worker then falls to the nearest reaper: the caller.
    check(prctl(_PR_SET_CHILD_SUBREAPER, 1), "child subreaper")
    answer, say = os.pipe()
    gate, opener = os.pipe()
    between = os.fork()
    if between == 0:
        _fork_between(say)
        for fd in (answer, say, opener):
            os.close(fd)
        os.read(gate, 1)  # ends when the process in between is reaped and this one has its parent
        os.close(gate)
        _die_with_parent()
        return 0
    os.close(say)
    os.close(gate)
    with os.fdopen(answer) as pipe:
        text = pipe.readline().strip()
    os.waitpid(between, 0)
    os.close(opener)
    if not text.isdigit():
        raise ConfinementError(text or "the process in between ended early")
    return int(text)


def apply(spec: Mapping[str, Any], keep: Iterable[int] = ()) -> None:
    """Confines the calling process, which has one thread, as `spec` says.

    Afterwards it stands in `spec["directory"]`, which HOME and TMPDIR name too, and of its open
    files only 0, 1, 2 and `keep` are left.

    Raises:
      ConfinementError, OSError: a mechanism failed. The process must end: no student's code may
        run in it.
    """
    layers, directory, readable = spec["layers"], spec["directory"], spec["readable"]
    _close_all_but({0, 1, 2, *keep})
    if "namespaces" in layers:
        namespaces.enter(readable, scratch=spec["scratch"], network=spec["network"])
    os.chdir(directory)
    os.environ["HOME"] = os.environ["TMPDIR"] = tempfile.tempdir = directory
    if layers and on_linux():
        _drop_capabilities()
    if "rlimits" in layers:
        rlimits.apply(spec["limits"])
    if "landlock" in layers:
        landlock.restrict([*readable, *(f"/proc/{name}" for name in PROC)], [directory], DEVICES)
    if "seccomp" in layers:
        seccomp.install()


def _fork_between(say: int) -> None:
    """Forks the worker into a PID namespace; returns in the worker only."""
    try:
        namespaces.unshare_processes()
        child = os.fork()
        text = str(child)
    except (OSError, ConfinementError) as error:
        child, text = -1, str(error)
    if child:
        os.write(say, f"{text}\n".encode())
        os._exit(0)


def _die_with_parent() -> None:
    if on_linux():
        check(prctl(_PR_SET_PDEATHSIG, signal.SIGKILL), "parent death signal")


def _close_all_but(keep: set[int]) -> None:
    # An open folder would be a way out of the tree, a socket one out of the machine.
    for fd in {int(name) for name in os.listdir("/dev/fd")} - keep:
        with contextlib.suppress(OSError):  # the one that the listing itself had open
            os.close(fd)


def _drop_capabilities() -> None:
    """Leaves the process nothing of root's, nor of what a user namespace gave it."""
    for capability in range(64):
        if prctl(_PR_CAPBSET_DROP, capability) < 0:
            break  # past the last one, or without the right to: then there is nothing to drop
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    check(libc().capset(header, nothing), "capset")
