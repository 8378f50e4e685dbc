"""A submission's folder is where people stand when they grade it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.grader.sandbox.inside import PACKAGE


@pytest.mark.parametrize("module", ["numpy", "msgspec", "typer", "pytest", "rich", "json"])
def test_a_module_in_the_current_folder_is_never_imported_by_the_trusted_side(tmp_path, module):
    (tmp_path / f"{module}.py").write_text("open('imported', 'w').close()\n")
    ended = subprocess.run(
        [sys.executable, "-m", "grader", "grade", "--help"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert not (tmp_path / "imported").exists()
