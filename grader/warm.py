"""Makes ahead what workers read from the cache: the digits, a font list, compiled operations.

Eager JAX compiles each operation once a shape, and that is most of the time of a cold grading. So
the solutions are graded once with a cache of their own that is written; what is then published is
what was compiled for JAX's own operations, the given network and the probes. A program with any
other name, the solutions' own functions first of all, is left out: students' code can read it.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from grader.cache import cache_folder, compilation_cache
from grader.exercises import ROOT
from grader.grading import Grader
from grader.launch import GraderError

_PUBLIC_MODULES = ("jax", "jax.numpy", "jax.lax", "jax.random", "jax.nn", "jax.scipy.special")


def warm(root: Path = ROOT) -> int:
    """Fills the cache; what is there already stays.

    Returns:
      The number of programs in the cache.

    Raises:
      GraderError: no worker can be started.
    """
    _prepare_files(root)
    published = compilation_cache()
    if not (root / "solutions").is_dir():  # a student's kit fills the cache as it grades
        return 0
    names = public_names(root)
    with tempfile.TemporaryDirectory(prefix="jaxlings-") as folder:
        shutil.copytree(published, folder, dirs_exist_ok=True)  # nothing is compiled twice
        with Grader("off", cache=Path(folder)) as grader:
            grader.grade(root / "solutions", seed=0)
        for program in Path(folder).iterdir():
            if function_name(program.name) in names and not (published / program.name).exists():
                _publish(program, published)
    return sum(1 for _ in published.iterdir())


def function_name(program: str) -> str:
    """The name of the function that a file of the cache was compiled from."""
    return program.removeprefix("jit_").rpartition("-")[0].rpartition("-")[0] or program


def public_names(root: Path = ROOT) -> frozenset[str]:
    """Names of compiled functions that everybody may see."""
    listing = f"[dir(importlib.import_module(name)) for name in {_PUBLIC_MODULES!r}]"
    listed = _python(f"import importlib, json; print(json.dumps({listing}))")
    names = {name for module in json.loads(listed) for name in module}
    names |= {f"_{name}" for name in names} | {"_threefry_split", "_threefry_seed"}
    given = [
        root / "exercises" / "mnist_mlp.py",
        root / "grader" / "worker.py",
        *(root / "grader" / "probes").glob("*.py"),
    ]
    names |= {name for path in given for name in _functions(path)}
    return frozenset(names).difference(*map(_functions, (root / "solutions").glob("*.py")))


def _prepare_files(root: Path) -> None:
    """Has the digits and matplotlib's font list written to the cache by their own code."""
    folder = root / "exercises"
    digits = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); import mnist_mlp as m; m.load_mnist()"
    )
    fonts = "import matplotlib.font_manager"
    _python(f"{digits}; {fonts}", MPLCONFIGDIR=str(cache_folder() / "matplotlib"))


def _python(code: str, **environment: str) -> str:
    """What a Python process prints that runs `code`.

    Raises:
      GraderError: it failed.
    """
    variables = {**os.environ, "JAXLINGS_CACHE": str(cache_folder()), **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, cwd="/", capture_output=True, text=True
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise GraderError(f"the cache could not be made ready ({reason}); run `make setup`")
    return done.stdout


def _functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_bytes())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def _publish(program: Path, folder: Path) -> None:
    """Copies a program so that a reader sees all of it or nothing."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".", delete=False) as file:
        file.write(program.read_bytes())
    Path(file.name).chmod(0o644)
    shutil.move(file.name, folder / program.name)
