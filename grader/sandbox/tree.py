"""What a worker may see of the file tree: the system's libraries and the Python environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

# Never the whole of /usr/local or of a prefix: nbgrader keeps its exchange below /usr/local/share.
_SYSTEM = (
    *("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib"),
    *("/usr/share/zoneinfo", "/usr/share/fonts", "/usr/share/fontconfig", "/etc/fonts"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives"),
    *("/etc/localtime", "/etc/timezone", "/sys/devices/system/cpu"),
)
_OF_PREFIX = ("bin", "lib", "lib64", "pyvenv.cfg")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# The only files of /proc that JAX's libraries ask for; reductions on CPU fail without the first.
PROC = ("cpuinfo", "meminfo")


def readable(more: Iterable[Path]) -> tuple[str, ...]:
    """The paths that a worker may read, `more` among them, as absolute paths that exist here."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    paths = [*_SYSTEM]
    paths += [os.path.join(prefix, name) for prefix in sorted(prefixes) for name in _OF_PREFIX]
    paths += [os.path.abspath(path) for path in more]
    both = dict.fromkeys(form for path in paths for form in (path, os.path.realpath(path)))
    return tuple(path for path in both if os.path.exists(path))
