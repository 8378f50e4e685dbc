"""Looks at what the kit needs on this machine and says what to do about what is missing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.cache import cache_folder, compilation_cache
from grader.exercises import ROOT, names
from grader.launch import GraderError, Launcher, WorkerFault, deadline_in
from grader.pictures import DIGITS
from grader.sandbox import SandboxUnavailable, choose

FREE_BYTES = 1 << 30
WORKER_SECONDS = 60.0


@dataclass(frozen=True)
class Finding:
    """What was looked at, how it is, and what to do where that is not well."""

    name: str
    found: str
    advice: str = ""
    """Empty: all is well."""


def examine(root: Path = ROOT) -> Iterator[Finding]:
    """Looks at one thing after the other, the quick ones first."""
    yield _python()
    yield from _exercises(root)
    yield _writable(root)
    yield _disk(root)
    yield _cached()
    yield _sandbox()
    yield _jax()


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 11)
    return Finding("Python", version, "" if good else "Install Python 3.11 or later.")


def _exercises(root: Path) -> Iterator[Finding]:
    missing = [n for n in names(root) if not (root / "exercises" / f"{n}.py").is_file()]
    advice = f"Copy {', '.join(missing)} from a fresh kit." if missing else ""
    yield Finding("exercises", f"{len(names(root)) - len(missing)} of {len(names(root))}", advice)


def _writable(root: Path) -> Finding:
    if os.access(root, os.W_OK):
        return Finding("folder", "can be written")
    return Finding("folder", "cannot be written", "Move the kit to a folder of your own.")


def _disk(root: Path) -> Finding:
    free = shutil.disk_usage(root).free
    advice = "" if free >= FREE_BYTES else "Free some disk: at least 1 GB is wanted."
    return Finding("disk", f"{free / 1e9:.1f} GB free", advice)


def _cached() -> Finding:
    digits = (cache_folder() / DIGITS).is_file()
    programs = sum(1 for _ in compilation_cache().iterdir())
    found = f"{'digits' if digits else 'no digits'}, {programs} compiled programs"
    return Finding("cache", found, "" if digits and programs else "Run `python -m grader warm`.")


def _sandbox() -> Finding:
    try:
        sandbox = choose("required")
    except SandboxUnavailable as error:
        return Finding("sandbox", choose("auto").name, f"For grading others' work: {error}")
    return Finding("sandbox", sandbox.name)


def _jax() -> Finding:
    try:
        with Launcher(choose("off")) as launcher:
            worker = launcher.start()
            found = worker.request({"do": "environment"}, deadline_in(WORKER_SECONDS))["value"]
            worker.close()
    except (GraderError, WorkerFault, KeyError) as error:
        return Finding("jax", "does not start", f"Run `make setup` ({error}).")
    return Finding("jax", f"{found['jax']} on {found['backend']} ({found['device']})")
