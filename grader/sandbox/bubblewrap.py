"""A file tree of its own for a worker, or for the process that workers are forked from.

bubblewrap builds what no process of ours can build more safely: a root with nothing in it but the
libraries, the Python environment and the folders named here, all read-only, with no network and no
sight of other processes.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from grader.sandbox.namespaces import SCRATCH, TMPFS_BYTES


def find() -> str | None:
    """The program's path: the system's, else the one that a wheel put into this environment."""
    return shutil.which("bwrap") or shutil.which("bwrap", path=str(Path(sys.prefix, "bin")))


def command(argv: Sequence[str], readable: Sequence[str], *, user: int | None) -> list[str]:
    """`argv` inside a new root in which only `readable` can be seen and only /tmp be written.

    `user` is who the command becomes when this process is root, None for an ordinary user's.

    Raises:
      FileNotFoundError: bubblewrap is not installed.
    """
    program = find()
    if program is None:
        raise FileNotFoundError("bwrap")
    separate = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    separate += ["--unshare-cgroup-try", "--as-pid-1", "--die-with-parent", "--cap-drop", "ALL"]
    if user is None:
        separate += ["--unshare-user"]
    else:
        separate += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        argv = become(user, argv)
    # The root is a tmpfs without a size: closed at the end, when everything has its place in it.
    tree = ["--perms", "1777", "--size", str(TMPFS_BYTES), "--tmpfs", "/tmp", "--dir", SCRATCH]
    paths = [*readable, *([_setpriv()] if user is not None else [])]
    parents = {str(parent) for path in paths for parent in Path(path).parents} - {"/", "/tmp"}
    for parent in sorted(parents):  # left to bubblewrap, they are closed to everybody but root
        tree += ["--perms", "0755", "--dir", parent]
    for path in paths:
        tree += _bind(path)
    tree += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev", "--remount-ro", "/"]
    return [program, *separate, *tree, "--chdir", "/", "--", *argv]


def become(user: int, argv: Sequence[str]) -> list[str]:
    """`argv` run by root as the user and group `user`, without a way back."""
    drop = [f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all"]
    # A change of user clears the wish to die with the parent, so it is made again.
    return [_setpriv(), *drop, "--bounding-set=-all", "--pdeathsig=KILL", "--", *argv]


def _setpriv() -> str:
    return shutil.which("setpriv") or "/usr/bin/setpriv"


def _bind(path: str) -> list[str]:
    if os.path.islink(path):
        return ["--symlink", os.readlink(path), path]
    return ["--ro-bind", path, path]
