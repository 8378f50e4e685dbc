"""The students' kit: what they work with, and a proof that nothing else is in it."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader import kit
from grader.exercises import ROOT, names
from grader.report.model import write_atomically

SHINGLE = 5
"""So many lines in a row that are a solution's or a hidden test's are a leak."""
NAME = "jaxlings"
_FILES = ("LICENSE", "Makefile", "pyproject.toml", "requirements.lock")
_FOLDERS = ("exercises", "grader", "tests/visible", "tests/mistakes")
_RENAMED = {"docs/student/README.md": "README.md"}
_CACHES = ("__pycache__", "*.pyc", ".*_cache", ".git*", ".ipynb_checkpoints")


class Leak(Exception):
    """Something that students must not have is in the kit; a line for each finding."""


def release(to: Path, root: Path = ROOT) -> tuple[Path, Path]:
    """Writes the kit as `to`/jaxlings and `to`/jaxlings.zip; returns both.

    An older kit there is replaced only by one that the leak scan has passed.

    Raises:
      Leak: the scan found something; nothing is written.
      OSError: `to` cannot be written.
    """
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to, prefix=".kit-") as scratch:
        fresh = Path(scratch) / NAME
        _copy(fresh, root)
        if found := list(leaks(fresh, root)):
            raise Leak("\n".join(found))
        archive = Path(scratch) / f"{NAME}.zip"
        _zip(fresh, archive)
        folder = to / NAME
        if folder.exists():
            folder.rename(Path(scratch) / "old")
        fresh.rename(folder)
        write_atomically(to / f"{NAME}.zip", archive.read_bytes())
    return to / NAME, to / f"{NAME}.zip"


def leaks(folder: Path, root: Path = ROOT) -> Iterator[str]:
    """What in `folder` students must not have, a sentence each."""
    secret = {shingle: source for source, lines in _secrets(root) for shingle in _shingles(lines)}
    public = {s for path in _public(root) for s in _shingles(_code(path.read_text("utf-8")))}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_symlink():
            yield f"{name} is a link"
        elif path.name in (".git", "__pycache__", ".ipynb_checkpoints") or path.suffix == ".pyc":
            yield f"{name} is a history or a compiled cache"
        elif {"solutions", "hidden", "zoo"} & set(name.parts):
            yield f"{name} lies in a folder that students do not have"
        elif path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            if path.suffix != ".py" or "grader" not in name.parts:
                if kit.BEGIN in text:
                    yield f"{name} holds a solution region"
            for shingle in _shingles(_code(text)):
                if shingle in secret and shingle not in public:
                    yield f"{name} repeats {SHINGLE} lines of {secret[shingle]}"
                    break


def _copy(to: Path, root: Path) -> None:
    ignore = shutil.ignore_patterns(*_CACHES)
    for name in _FOLDERS:
        shutil.copytree(root / name, to / name, ignore=ignore)
    shared = [
        str(path.relative_to(root))
        for pattern in ("tests/*.py", "benchmarks/test_*.py")
        for path in root.glob(pattern)
    ]
    for name in (*_FILES, *_RENAMED, *shared):
        target = to / _RENAMED.get(name, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, target)
    for name in names(root):
        # Not the working copy, which may hold somebody's answers.
        stub = kit.stub_source((root / "solutions" / f"{name}.py").read_text("utf-8"))
        (to / "exercises" / f"{name}.py").write_text(stub, "utf-8")


def _zip(folder: Path, to: Path) -> None:
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder.parent))


def _secrets(root: Path) -> Iterator[tuple[str, list[str]]]:
    """The lines of each solution's regions and of each hidden test, by the file they are in."""
    for path in sorted((root / "solutions").glob("*.py")):
        text = path.read_text("utf-8")
        for region in re.findall(rf"{kit.BEGIN}\n(.*?){kit.END}", text, re.DOTALL):
            yield f"solutions/{path.name}", _code(region)
    for path in sorted((root / "tests" / "hidden").glob("*.py")):
        yield f"tests/hidden/{path.name}", _code(path.read_text("utf-8"))


def _public(root: Path) -> Iterator[Path]:
    """What students have anyway and hidden tests may share lines with (their imports, say)."""
    yield from sorted((root / "tests" / "visible").glob("*.py"))
    yield root / "exercises" / "mnist_mlp.py"


def _code(text: str) -> list[str]:
    """Lines without layout and comments, the empty ones left out."""
    lines = (re.sub(r"\s+", " ", line.partition("#")[0]).strip() for line in text.splitlines())
    return [line for line in lines if line]


def _shingles(lines: list[str]) -> Iterable[tuple[str, ...]]:
    return zip(*(lines[offset:] for offset in range(SHINGLE)), strict=False)
