"""`remove`: nothing of a worker's folder is left, and nothing else goes with it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from grader.sandbox.removal import remove


def test_a_missing_folder_is_no_error(tmp_path):
    remove(tmp_path / "missing")


def test_links_are_not_followed(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "link").symlink_to(kept)
    remove(folder)
    assert not folder.exists()
    assert (kept / "file").exists()


def test_a_chain_too_deep_for_python_is_removed(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    code = "import os\nfor _ in range(1200):\n    os.mkdir('d')\n    os.chdir('d')"
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
    remove(folder)
    assert not folder.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="no folder is closed to root")
def test_closed_folders_are_removed(tmp_path):
    folder = tmp_path / "work"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").touch()
    (folder / "inner").chmod(0)
    remove(folder)
    assert not folder.exists()
