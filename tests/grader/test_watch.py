"""Watching: a saved file is graded, whatever state it is in, and nothing is left behind."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.watch import needs_polling
from tests.grader.test_grading import RIGHT

SECONDS = 120.0


class Session:
    """`watch` on a pseudo terminal."""

    def __init__(self, kit: Path, folder: Path) -> None:
        self.folder = folder
        self._screen = ""
        self._fd, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "grader", "watch", str(folder)],
            cwd=kit,
            env={**os.environ, "PYTHONPATH": str(kit), "COLUMNS": "100", "TERM": "xterm"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            close_fds=True,
            start_new_session=True,
        )
        os.close(theirs)

    def save(self, source: str) -> None:
        (self.folder / "scaling.py").write_text(source)

    def press(self, key: str) -> None:
        os.write(self._fd, key.encode())

    def until(self, text: str) -> str:
        """What came on the screen up to `text`, which must come."""
        deadline = time.monotonic() + SECONDS
        while text not in self._screen:
            if not select.select([self._fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"{text!r} did not come; the screen:\n{self._screen}")
            self._screen += os.read(self._fd, 1 << 16).decode(errors="replace")
        before, _, self._screen = self._screen.partition(text)
        return before

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._fd)


@pytest.fixture
def session(toy_kit, tmp_path) -> Iterator[Session]:
    found = Session(toy_kit.root, tmp_path)
    yield found
    found.close()


def children(pid: int) -> int:
    """How many processes a process has started that still run."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return sum(len(path.read_text().split()) for path in tasks)


def test_each_save_gets_its_verdict_and_leaves_no_process(session):
    session.until("scaling -")
    session.save(RIGHT)
    session.until("✓ scaling 20/20")
    started = children(session.process.pid)
    session.save("def scale(x:\n")
    assert "not valid Python" in session.until("scaling 0/20")
    session.save("import os\nos._exit(0)\n")
    assert "ended while scaling.py was imported" in session.until("scaling 0/20")
    (session.folder / "scaling.py").unlink()
    assert "scaling.py is missing" in session.until("scaling 0/20")
    half = session.folder / "scaling.py.part"
    half.write_text(RIGHT)
    half.rename(session.folder / "scaling.py")
    session.until("✓ scaling 20/20")
    for _ in range(5):
        session.save(RIGHT)
        session.until("✓ scaling 20/20")
    assert children(session.process.pid) == started


def test_keys_give_hints_everything_and_the_end(session):
    session.until("keys: h hint")
    session.press("h")
    session.until("Hint 1 of 3 on scaling: Look.")
    session.save(RIGHT)
    session.until("✓ scaling 20/20")
    session.press("a")
    session.until("✓ scaling 20/20")
    session.press("q")
    assert session.process.wait(SECONDS) == 0


@pytest.mark.parametrize(
    ("mounts", "polls"),
    [
        ("/dev/sda / ext4 rw 0 0\n", False),
        ("/dev/sda / ext4 rw 0 0\nserver:/x {folder} nfs4 rw 0 0\n", True),
        ("server:/x / nfs rw 0 0\n/dev/sda {folder} ext4 rw 0 0\n", False),
        ("C: {parent} drvfs rw 0 0\n", True),
        ("", False),
    ],
)
def test_drives_without_notifications_are_polled(tmp_path, mounts, polls):
    table = tmp_path / "mounts"
    folder = tmp_path / "exercises"
    folder.mkdir()
    table.write_text(mounts.format(folder=folder, parent=tmp_path))
    assert needs_polling(folder, table) is polls
