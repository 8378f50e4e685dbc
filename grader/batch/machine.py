"""What the batches of a user on one machine agree on, whoever started their processes.

Time is measured in one slot, one exercise after the other, while other work goes on: its items are
built for that, and most of what they do is wait. Only where one of them is lost is the exercise
graded again alone, so that no point is lost to a busy machine and no core idles for the rest.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from grader.launch import GraderError


@contextlib.contextmanager
def timing_slot() -> Iterator[None]:
    """The one place on this machine where time is measured."""
    with held_file("timing"):
        yield


@contextlib.contextmanager
def beside_others() -> Iterator[None]:
    """Work that may go on at the same time as other work, and waits while somebody is `alone`."""
    with contextlib.ExitStack() as room:
        with held_file("door"):
            room.enter_context(held_file("room", fcntl.LOCK_SH))
        yield


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Nothing else is graded on this machine meanwhile: waits for what is, and lets nobody in."""
    with held_file("door"), held_file("room"):
        yield


@contextlib.contextmanager
def held_file(name: str, how: int = fcntl.LOCK_EX) -> Iterator[Path]:
    """A small file of this user's on this machine, locked; the lock goes with the process.

    Raises:
      GraderError: the folder for such files is not this user's own.
    """
    path = _folder() / name
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, how)
        yield path
    finally:
        os.close(handle)


def forget(run: str) -> None:
    """Removes the files that belong to one run of a batch."""
    for path in _folder().glob(f"{run}-*"):
        path.unlink(missing_ok=True)


def _folder() -> Path:
    folder = Path(tempfile.gettempdir()) / f"jaxlings-batch-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise GraderError(f"{folder} is somebody else's; set TMPDIR to a folder of your own")
    return folder
