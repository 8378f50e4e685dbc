"""Runs a snippet of Python in a confined process, as a worker would be started."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox import Sandbox, choice, selftest

PACKAGE = Path(selftest.__file__).resolve().parents[1]
_CODE = f"""
import json, os, sys
sys.path.insert(0, {str(PACKAGE.parent)!r})
from grader.sandbox import confine
task = json.loads(sys.stdin.read())
child = confine.fork(task["spec"]) if task["fork"] else 0
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256)
confine.apply(task["spec"])
exec(task["code"], task["names"])
sys.stdout.flush()
os._exit(0)
"""


@cache
def working() -> tuple[Sandbox, ...]:
    """Every set of mechanisms that works on this machine, the strongest first."""
    sets = map(Sandbox, choice._candidates())
    return tuple(sandbox for sandbox in sets if selftest.trouble(sandbox) is None)


def confining(*layers: str) -> list[Any]:
    """Those of `working` that hold a hostile submission and have all of `layers`."""
    return [
        pytest.param(sandbox, id=sandbox.name)
        for sandbox in working()
        if sandbox.confines and set(layers) <= set(sandbox.layers)
    ]


def run(
    sandbox: Sandbox, code: str, readable: Sequence[Path] = (), **names: Any
) -> subprocess.CompletedProcess[str]:
    """Runs `code` with the globals `names` in a process that `sandbox` confines."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder, "work")
        directory.mkdir()
        spec = sandbox.spec(directory, readable=[PACKAGE, *readable])
        task = {"spec": spec, "fork": sandbox.forks, "code": code, "names": names}
        argv = [sys.executable, "-I", "-S", "-B", "-c", _CODE]
        return subprocess.run(
            sandbox.command(argv, readable=[PACKAGE, *readable]),
            input=json.dumps(task),
            capture_output=True,
            text=True,
            timeout=60,
            env={},
            check=False,
        )
