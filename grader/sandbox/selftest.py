"""Whether a sandbox holds: each thing that it must stop is tried inside, before it is relied on."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.sandbox.attacks import ATTACKS
from grader.sandbox.system import is_root

if TYPE_CHECKING:
    from grader.sandbox.choice import Sandbox

_PACKAGE = Path(__file__).resolve().parent.parent
_SECONDS = 30.0  # far above what it takes, for a machine that is very busy


class SelfTestError(Exception):
    """No process could be confined, or none works there; one line that says why."""


@dataclass(frozen=True)
class Finding:
    """One thing that was tried inside a sandbox.

    Attributes:
      name: what was tried, as "fork" or "read a file outside".
      blocked: whether it was stopped.
      detail: what it did where it was not stopped.
    """

    name: str
    blocked: bool
    detail: str = ""


def trouble(sandbox: Sandbox) -> str | None:
    """Why `sandbox` is not to be relied on: it does not start or, where it should, does not hold.

    None when all is well.
    """
    try:
        if not sandbox.confines:
            with tempfile.TemporaryDirectory(prefix="jaxlings-") as folder:
                _try(sandbox, Path(folder), {}, [])
            return None
        loose = [finding for finding in self_test(sandbox) if not finding.blocked]
    except SelfTestError as error:
        return str(error)
    return f"{loose[0].name!r} is not blocked: {loose[0].detail}" if loose else None


def self_test(sandbox: Sandbox) -> list[Finding]:
    """Tries every attack of `attacks.py` in a process that `sandbox` confines, in under a second.

    Raises:
      SelfTestError: no process could be confined, or none works there.
    """
    with (
        tempfile.TemporaryDirectory(prefix="jaxlings-") as folder,
        _targets(Path(folder)) as targets,
    ):
        done = _try(sandbox, Path(folder), targets, list(ATTACKS))
    details = {name: done.get(name, "it was not tried") for name in ATTACKS}
    return [Finding(name, said is None, said or "") for name, said in details.items()]


def _try(
    sandbox: Sandbox, folder: Path, targets: Mapping[str, Any], attacks: Sequence[str]
) -> dict[str, str | None]:
    """What came of `attacks`: None for one that was stopped, else what it did."""
    os.chmod(folder, 0o755)  # the canary is for all to read, but for the sandbox
    directory = folder / "work"
    directory.mkdir()
    code = (
        f"import sys; sys.path.insert(0, {str(_PACKAGE.parent)!r});"
        " from grader.sandbox import attacks; attacks.main()"
    )
    argv = [sys.executable, "-I", "-S", "-B", "-c", code]
    task = {
        "spec": sandbox.spec(directory, readable=[_PACKAGE]),
        "fork": sandbox.forks,
        "targets": dict(targets),
        "attacks": list(attacks),
    }
    try:
        ended = subprocess.run(
            sandbox.command(argv, readable=[_PACKAGE]),
            input=json.dumps(task),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            start_new_session=True,
            env={"PATH": os.environ.get("PATH", os.defpath)},
            cwd="/",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SelfTestError(f"{type(error).__name__}: {error}") from error
    lines = ended.stdout.splitlines()
    if not lines:
        said = ended.stderr.strip().splitlines()
        raise SelfTestError(said[-1][:200] if said else f"exit status {ended.returncode}")
    report = json.loads(lines[-1])
    if "error" in report:
        raise SelfTestError(report["error"])
    done: dict[str, str | None] = report["done"]
    return done


@contextlib.contextmanager
def _targets(folder: Path) -> Iterator[dict[str, Any]]:
    """Something for each attack to reach for: a canary, three sockets, a process."""
    canary = folder / "canary"
    canary.write_text(secrets.token_hex(16))
    abstract = f"jaxlings-{secrets.token_hex(8)}"
    victim = subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL)
    with contextlib.ExitStack() as stack:
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for address in (str(folder / "socket"), "\0" + abstract):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
        yield {
            "canary": str(canary),
            "port": tcp.getsockname()[1],
            "socket": str(folder / "socket"),
            "abstract": abstract,
            "victim": victim.pid,
            "root": is_root(),
        }
