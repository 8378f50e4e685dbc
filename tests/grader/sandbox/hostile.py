"""A kit in which hostile submissions are graded, with secrets all around that must stay secret.

The graded tests here are four short ones of `generic_mlp`, so that all of `tests/zoo/hostile` can
be graded under every sandbox of the machine.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
ZOO = ROOT / "tests" / "zoo" / "hostile"

VISIBLE = '''"""Short tests of generic_mlp that students see."""

import numpy as np

from grader.checks import array, close, require
from grader.plugin import Exercise, item

EXERCISE = Exercise(order=3, title="Any depth", hints=("a", "b", "c"))


def network(rng, sizes):
    pairs = zip(sizes, sizes[1:])
    return {
        f"layer{i}": {
            "w": rng.normal(size=shape).astype(np.float32),
            "b": rng.normal(size=shape[1]).astype(np.float32),
        }
        for i, shape in enumerate(pairs, start=1)
    }


def expected(params, x):
    for i in range(1, len(params) + 1):
        x = x @ params[f"layer{i}"]["w"] + params[f"layer{i}"]["b"]
        x = np.maximum(x, 0) if i < len(params) else x
    return x


@item("num_layers counts", points=4, hint="Think.", seconds=3)
def test_num_layers(student, rng):
    for depth in rng.permutation([1, 2, 4]):
        got = student.num_layers(network(rng, [4] * (depth + 1)))
        require(type(got) is int and got == depth, f"num_layers gave {str(got)[:40]}")


@item("mlp_forward", points=6, hint="Think.", seconds=3)
def test_forward(student, rng):
    for _ in range(2):
        params = network(rng, (4, 3, 5))
        x = rng.normal(size=(4, 4)).astype(np.float32)
        got = array(student.mlp_forward(params, x), shape=(4, 5), dtype="float32")
        close(got, expected(params, x), rtol=1e-4, atol=1e-4)
        require(student.changed == (), "an argument was changed")
'''
HIDDEN = '''"""Short tests of generic_mlp that students do not see. {canary}"""

import numpy as np

from grader.checks import array, close, require, tree
from grader.plugin import item
from grader.values import jit, key
from tests.visible.test_generic_mlp import expected, network

SECRET = "{canary}"


@item("mlp_forward under jit", points=6, hint="Think.", seconds=3)
def test_forward_under_jit(student, rng):
    params, x = network(rng, (4, 3, 5)), rng.normal(size=(5, 4)).astype(np.float32)
    got = array(student.under(jit()).mlp_forward(params, x), shape=(5, 5), dtype="float32")
    close(got, expected(params, x), rtol=1e-4, atol=1e-4)


@item("init_mlp", points=4, hint="Think.", seconds=3)
def test_init(student, rng):
    like = network(rng, (30, 20, 4))
    drawn = [tree(student.init_mlp(key(rng), (30, 20, 4)), like, what="params") for _ in range(2)]
    first, second = (params["layer1"]["w"] for params in drawn)
    require(not np.array_equal(first, second), "two keys gave the same weights")
    require(0.03 < first.var() < 0.12, "the variance is off")
'''


@dataclass(frozen=True)
class Case:
    """A hostile submission: its file, the outcomes that an item may have, the items it may keep.

    `each_sandbox`: what stops it differs from sandbox to sandbox.
    """

    path: Path
    idea: str
    outcomes: frozenset[str]
    keeps: frozenset[str]
    each_sandbox: bool

    @property
    def name(self) -> str:
        return self.path.stem


def cases() -> list[Case]:
    """The submissions of the zoo, as their headers declare them."""
    found = []
    for path in sorted(ZOO.glob("*.py")):
        header = {}
        for line in path.read_text().splitlines():
            if not line.startswith("# "):
                break
            name, _, value = line[2:].partition(": ")
            header[name] = value
        keeps = frozenset(header.get("keeps", "").split())
        outcomes = frozenset(header["verdict"].split())
        each = header.get("layers") == "each"
        found.append(Case(path, header["hostile"], outcomes, keeps, each))
    return found


class HostileKit:
    """A copy of the grader with the short tests, secrets in it and around it, and ears open."""

    def __init__(self, root: Path) -> None:
        self.root = root
        token = secrets.token_hex(8)
        self.canary = f"CANARY-{token}"
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        # What the submissions reach for, under names that no other run on this machine has.
        self._reachable = {
            "47_653": str(port),
            "jaxlings-canary": f"jaxlings-{token}",
            "jaxlings-unpickled": f"jaxlings-unpickled-{token}",
        }
        shutil.copytree(
            ROOT / "grader", root / "grader", ignore=shutil.ignore_patterns("__pycache__")
        )
        hidden = HIDDEN.replace("{canary}", self.canary)
        solution = (ZOO / "control_honest.py").read_text() + f"\nSECRET = {self.canary!r}\n"
        files = {
            "exercises/mnist_mlp.py": (ROOT / "exercises" / "mnist_mlp.py").read_text(),
            "tests/__init__.py": "",
            "tests/visible/__init__.py": "",
            "tests/hidden/__init__.py": "",
            "tests/visible/test_generic_mlp.py": VISIBLE,
            "tests/hidden/test_generic_mlp.py": hidden,
            "solutions/generic_mlp.py": solution,
            "canary.txt": self.canary,
            "home/canary.txt": self.canary,
            "home/.ssh/id_rsa": self.canary,
            "home/.netrc": self.canary,
            "submitted/other/generic_mlp.py": solution,
        }
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        (root / "temporary").mkdir()
        # Everybody may read all this: only the sandbox keeps it.
        for path in (root, *root.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        for case in cases():
            folder = root / "submitted" / case.name
            folder.mkdir()
            text = case.path.read_text()
            for fixed, own in self._reachable.items():
                text = text.replace(fixed, own)
            (folder / "generic_mlp.py").write_text(text)

    def grade(self, layers: Sequence[str], names: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Grades the submissions `names`, one after the other in one process, under `layers`."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self.root / "home"),
            "TMPDIR": str(self.root / "temporary"),
            "JAXLINGS_CACHE": str(self.root / "cache"),
            "JAXLINGS_CANARY": self.canary,
        }
        driver = Path(__file__).with_name("hostile_driver.py")
        process = subprocess.Popen(
            [sys.executable, str(driver)],
            cwd=self.root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin
        assert process.stdout
        with process:
            slow = [case.name for case in cases() if "timeout" in case.outcomes]
            task = {"layers": layers, "names": names, "slow": slow, "reachable": self._reachable}
            json.dump(task, process.stdin)
            process.stdin.close()
            for line in process.stdout:
                yield json.loads(line)
        assert process.returncode == 0
