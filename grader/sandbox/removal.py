"""Removes what a submission left behind, however it left it."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
from pathlib import Path


def remove(folder: Path) -> None:
    """Removes `folder` and all below it, without following links; what cannot be removed stays.

    Folders that were closed are opened first. A chain of folders may be too deep for a path or for
    recursion, so each is emptied into the first one.
    """
    fresh = (os.path.join(folder, f"{secrets.token_hex(8)}-{i}") for i in itertools.count())
    with contextlib.suppress(OSError):
        os.chmod(folder, 0o700)
        while entries := list(os.scandir(folder)):
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    os.chmod(entry.path, 0o700)
                    for inner in list(os.scandir(entry.path)):
                        if inner.is_dir(follow_symlinks=False):
                            os.chmod(inner.path, 0o700)  # a closed folder cannot be moved either
                        os.rename(inner.path, next(fresh))
                    os.rmdir(entry.path)
                else:
                    os.unlink(entry.path)
        os.rmdir(folder)
