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
from grader.sandbox.system import NOBODY


def find() -> str | None:
    """The program's path: the system's, else the one that a wheel put into this environment."""
    return shutil.which("bwrap") or shutil.which("bwrap", path=str(Path(sys.prefix, "bin")))


def command(argv: Sequence[str], readable: Sequence[str]) -> list[str]:
    """`argv` inside a new root in which only `readable` can be seen and only /tmp be written.

    Raises:
      FileNotFoundError: bubblewrap is not installed.
    """
    program = find()
    if program is None:
        raise FileNotFoundError("bwrap")
    separate = ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc"]
    separate += ["--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    separate += ["--as-pid-1", "--die-with-parent"]
    if os.geteuid() == 0:
        # In name, and without root's capabilities. A change of user for good would keep
        # bubblewrap's own process, which has given them up too, from ending this one.
        separate += ["--uid", str(NOBODY), "--gid", str(NOBODY)]
    # The root is a tmpfs without a size: closed at the end, when everything has its place in it.
    tree = ["--perms", "1777", "--size", str(TMPFS_BYTES), "--tmpfs", "/tmp", "--dir", SCRATCH]
    parents = {str(parent) for path in readable for parent in Path(path).parents} - {"/", "/tmp"}
    for parent in sorted(parents):  # left to bubblewrap, they are closed to everybody but root
        tree += ["--perms", "0755", "--dir", parent]
    for path in readable:
        tree += _bind(path)
    tree += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev", "--remount-ro", "/"]
    return [program, *separate, *tree, "--chdir", "/", "--", *argv]


def _bind(path: str) -> list[str]:
    if os.path.islink(path):
        return ["--symlink", os.readlink(path), path]
    return ["--ro-bind", path, path]
