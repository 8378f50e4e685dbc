"""Where the kit keeps what it can make again: the digits, compiled programs, a font list."""

from __future__ import annotations

import hashlib
import os
import platform
from importlib.metadata import version
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """The kit's cache folder, made where it is missing; `JAXLINGS_CACHE` moves it."""
    chosen = os.environ.get("JAXLINGS_CACHE")
    folder = Path(chosen) if chosen else Path(platformdirs.user_cache_dir("jaxlings"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


def compilation_cache() -> Path:
    """The folder of programs compiled for this machine by these versions of JAX and of the kit."""
    parts = [version("jax"), version("jaxlib"), platform.machine(), platform.processor()]
    name = hashlib.sha256("|".join(parts).encode()).hexdigest()[:12]
    folder = cache_folder() / f"xla-{name}"
    folder.mkdir(exist_ok=True)
    return folder
