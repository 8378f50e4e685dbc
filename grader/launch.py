"""Starts worker processes and talks with them from the trusted side."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from grader.cache import cache_folder, compilation_cache
from grader.sandbox import PLUGINS, Sandbox
from grader.sandbox.removal import remove
from grader.wire import Channel, Disconnected, ProtocolError, Timeout, channel_pair

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 120.0  # a cold import of jax on a machine that is very busy
MAX_OUTPUT = 16 * 1024
# What a worker may inherit: where the machine's libraries and devices are, nothing that bends JAX.
_INHERITED = (
    *("PATH", "LD_LIBRARY_PATH", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "SYSTEMROOT"),
    *("JAX_PLATFORMS", "CUDA_VISIBLE_DEVICES", "XLA_FLAGS", "TPU_VISIBLE_DEVICES"),
)


# Most of a grading is XLA compiling programs that run once or twice. Left unoptimised and without
# its fusion emitters a training step takes a quarter of the time to compile. A flag that XLA does
# not know ends the process, so these are for the versions that they were tried with.
_COMPILE_QUICKLY = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
_TRIED_WITH = "0.10."


class GraderError(Exception):
    """The grader or the machine failed, not the student; the text names the next step."""


class WorkerFault(Exception):
    """The worker gave no proper reply; `outcome` is the verdict on the item at hand."""

    outcome = "error"


class WorkerTimeout(WorkerFault):
    """No reply before the deadline."""

    outcome = "timeout"


class WorkerCrashed(WorkerFault):
    """The process ended in the middle of a call."""

    outcome = "crashed"


class WorkerGarbled(WorkerFault):
    """What came back is not a message."""


class WorkerProcess:
    """One worker: requests to it, its output, its end."""

    def __init__(
        self,
        channel: socket.socket,
        output: int,
        ending: _Ending,
        folder: Path,
        directory: str,
    ) -> None:
        """`folder` is removed at the end; `directory` is where the worker is to work."""
        self.directory = directory
        self._folder = folder
        self._channel = Channel(channel, plain=True)
        self._ending = ending
        self._output = _Drain(output)

    def request(self, message: Mapping[str, Any], deadline: float) -> dict[str, Any]:
        """Sends `message`, returns the reply; after any fault the process is dead.

        Raises:
          WorkerTimeout: no whole reply by `deadline` (on `time.monotonic`'s clock).
          WorkerCrashed: the process ended. WorkerGarbled: the reply is malformed.
        """
        # Unguessable, so that no reply can be written before its request was made.
        number = secrets.randbits(63)
        try:
            self._channel.send({**message, "id": number}, deadline)
            reply = self._channel.receive(deadline)
        except Timeout:
            self.close()
            raise WorkerTimeout from None
        except Disconnected:
            raise WorkerCrashed(_ended(self.close())) from None
        except ProtocolError as error:
            self.close()
            raise WorkerGarbled(str(error)) from None
        if not isinstance(reply, dict) or reply.get("id") != number:
            self.close()
            raise WorkerGarbled("the reply is not the worker's answer to this call")
        return reply

    def output(self) -> str:
        """The last of what the process printed."""
        return self._output.text()

    def close(self) -> int:
        """Kills the process and all that it started; returns its wait status."""
        self._channel.close()
        status = self._ending.end()
        self._output.close()
        remove(self._folder)
        return status


class Launcher:
    """Starts workers: forked from a zygote where that is safe, else each from its own interpreter.

    The zygote begins to import jax as soon as the launcher is made. Inside a sandbox it dies with
    the thread that made it, so that thread must live as long as the launcher is used.
    """

    def __init__(self, sandbox: Sandbox, *, cache: Path | None = None) -> None:
        """`cache`: a folder of compiled programs that workers write, in place of the common one."""
        self.sandbox = sandbox
        self._cache = cache
        self._folder = Path(tempfile.mkdtemp(prefix="jaxlings-"))
        self._zygote: _Zygote | None = None
        self._spare: _Cold | None = None
        # Inside bubblewrap /tmp is its own, and ours is not there.
        private = "bubblewrap" in sandbox.layers
        self._temporary = Path("/tmp") if private else self._directory()
        self.mode = "forked" if sandbox.forks and _can_fork(sandbox) else "cold"
        if self.mode == "forked":
            self._zygote = _Zygote(self._command("zygote"), self._environment(), not private)
        else:
            self._spare = self._cold()

    def start(self, *, timing: bool = False) -> WorkerProcess:
        """A fresh worker in its confinement, no code of a student's in it yet.

        Args:
          timing: programs are to be compiled as anywhere else, because their times count.

        Raises:
          GraderError: it could not be started.
        """
        environment = {} if timing else _quick_compilation()
        if self._zygote:
            try:
                return self._start_forked(self._zygote, environment)
            except _UnsafeFork:
                self.mode = "cold"
                self._zygote.close()
                self._zygote = None
        return self._start_cold(environment)

    def close(self) -> None:
        for process in (self._zygote, self._spare):
            if process:
                process.close()
        remove(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _start_forked(self, zygote: _Zygote, environment: dict[str, str]) -> WorkerProcess:
        ours, theirs = channel_pair()
        read, write = os.pipe()
        directory = self._directory()
        spec = self._spec(directory)
        try:
            ending = zygote.fork(theirs.fileno(), write, spec, environment)
        finally:
            theirs.close()
            os.close(write)
        return WorkerProcess(ours, read, ending, directory, spec["directory"])

    def _start_cold(self, environment: dict[str, str]) -> WorkerProcess:
        cold = self._spare or self._cold()
        self._spare = None
        directory = self._directory()
        spec = self._spec(directory)
        cold.begin(spec, environment)
        self._spare = self._cold()
        return WorkerProcess(cold.socket, cold.output, cold, directory, spec["directory"])

    def _cold(self) -> _Cold:
        return _Cold(self._command("cold"), self._environment())

    def _directory(self) -> Path:
        """A new folder for one worker."""
        return Path(tempfile.mkdtemp(dir=self._folder, prefix="work-"))

    def _spec(self, directory: Path) -> dict[str, Any]:
        return self.sandbox.spec(directory, readable=self._readable())

    def _readable(self) -> list[Path]:
        """What a worker may read besides the system and the Python environment."""
        return [ROOT / "grader", cache_folder()]

    def _command(self, role: str) -> list[str]:
        # -I: no user site, no PYTHON* variables, no current folder on the path.
        code = (
            f"import sys; sys.path.insert(0, {str(ROOT)!r}); import runpy; sys.argv[0] = 'grader';"
            "runpy.run_module('grader.zygote', run_name='__main__')"
        )
        argv = [sys.executable, "-I", "-B", "-c", code, role]
        readable = [ROOT / "grader", cache_folder()]
        return self.sandbox.command(argv, readable=readable) + ["{fd}"]

    def _environment(self) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        if self.sandbox.layers:
            inherited["JAX_PLATFORMS"] = "cpu"  # no other device can be seen in there
        return inherited | {
            "HOME": str(self._temporary),
            "TMPDIR": str(self._temporary),
            "LANG": "C.UTF-8",
            "JAXLINGS_CACHE": str(cache_folder()),
            "MPLBACKEND": "Agg",
            "OPENBLAS_NUM_THREADS": "1",
            "JAX_ENABLE_X64": "0",
            "JAX_DEFAULT_PRNG_IMPL": "threefry2x32",
            "JAX_DEFAULT_MATMUL_PRECISION": "highest",
            "JAX_COMPILATION_CACHE_DIR": str(self._cache or compilation_cache()),
            # Read, never written: a cache that students' processes can write is a way into others.
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0" if self._cache else "1e9",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
            # XLA's own caches put the folder's path into the key: what was compiled for one folder
            # would never be found in another.
            "JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES": "none",
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }


class _Ending:
    """How a worker is ended."""

    def end(self) -> int:
        raise NotImplementedError


class _UnsafeFork(Exception):
    """The zygote says that it cannot fork any more."""


class _Zygote:
    """The trusted side of the process that workers are forked from."""

    def __init__(self, command: list[str], environment: dict[str, str], same_pids: bool) -> None:
        self._same_pids = same_pids
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._errors = tempfile.TemporaryFile()
        self._lock = threading.Lock()
        self._ready = False
        self._process = _spawn(command, theirs, environment, self._errors.fileno())

    def fork(
        self, channel: int, output: int, spec: Mapping[str, Any], environment: dict[str, str]
    ) -> _Forked:
        with self._lock:
            self._wait_until_ready()
            message = json.dumps({"spec": dict(spec), "environment": environment}).encode()
            socket.send_fds(self._socket, [message], [channel, output])
            answer, fds = self._receive(1)
            if "error" in answer:
                raise _UnsafeFork(answer["error"])
            return _Forked(self, answer["pid"], fds[0], self._same_pids)

    def status(self, pid: int) -> int:
        with self._lock:
            self._socket.send(json.dumps({"status": pid}).encode())
            return int(self._receive()[0]["status"])

    def close(self) -> None:
        self._socket.close()
        self._process.kill()
        self._process.wait()
        self._errors.close()

    def _wait_until_ready(self) -> None:
        if not self._ready:
            self._receive()
            self._ready = True

    def _receive(self, fds: int = 0) -> tuple[dict[str, Any], list[int]]:
        if not select.select([self._socket], [], [], START_SECONDS)[0]:
            raise GraderError("the process that imports jax did not answer; try again")
        message, received, _, _ = socket.recv_fds(self._socket, 1 << 16, fds)
        if not message:
            self._errors.seek(0)
            lines = self._errors.read().decode(errors="replace").strip().splitlines()
            reason = lines[-1] if lines else "no reason given"
            raise GraderError(f"no worker could be started ({reason}); run `make setup`")
        return json.loads(message), received


class _Forked(_Ending):
    """A worker forked from the zygote: killed by descriptor, reaped by the zygote."""

    def __init__(self, zygote: _Zygote, pid: int, pidfd: int, same_pids: bool) -> None:
        """`same_pids`: whether the zygote calls processes by the numbers that this side does."""
        self._zygote, self._pid, self._pidfd = zygote, pid, pidfd
        self._same_pids = same_pids
        self._status: int | None = None

    def end(self) -> int:
        if self._status is None:
            # A process that closed its channel gets the moment it needs to say how it ended.
            select.select([self._pidfd], [], [], 0.2)
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            if self._same_pids:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._pid, signal.SIGKILL)
            self._status = self._zygote.status(self._pid)
            os.close(self._pidfd)
        return self._status


class _Cold(_Ending):
    """A worker with an interpreter of its own."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.socket, theirs = channel_pair()
        self.output, write = os.pipe()
        self._process = _spawn(command, theirs, environment, write)
        os.close(write)

    def begin(self, spec: Mapping[str, Any], environment: dict[str, str]) -> None:
        message = json.dumps({"spec": dict(spec), "environment": environment}).encode()
        self.socket.sendall(len(message).to_bytes(4) + message)

    def end(self) -> int:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        code = self._process.wait()
        return -code if code < 0 else code << 8

    def close(self) -> None:
        self.socket.close()
        self.end()
        os.close(self.output)


class _Drain:
    """Reads a pipe to its end in a thread and keeps the last of it, so that nobody blocks on it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._parts: deque[bytes] = deque()
        self._size = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def text(self) -> str:
        return b"".join(self._parts).decode(errors="replace")[-MAX_OUTPUT:]

    def close(self) -> None:
        self._thread.join(timeout=1.0)

    def _run(self) -> None:
        while part := os.read(self._fd, 1 << 16):
            self._parts.append(part[-MAX_OUTPUT:])
            self._size += len(self._parts[-1])
            while self._size - len(self._parts[0]) > MAX_OUTPUT:
                self._size -= len(self._parts.popleft())
        os.close(self._fd)


def _spawn(
    command: list[str], theirs: socket.socket, environment: dict[str, str], output: int
) -> subprocess.Popen[bytes]:
    fd = theirs.fileno()
    try:
        return subprocess.Popen(
            [str(fd) if part == "{fd}" else part for part in command],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[fd],
            start_new_session=True,
            cwd="/",
        )
    except OSError as error:
        raise GraderError(f"no worker could be started ({error}); run `make setup`") from error
    finally:
        theirs.close()


def _quick_compilation() -> dict[str, str]:
    """What to add to a worker's environment so that its programs are compiled quickly."""
    if not version("jaxlib").startswith(_TRIED_WITH):
        return {}
    given = os.environ.get("XLA_FLAGS", "")  # of two values XLA takes the last
    return {"XLA_FLAGS": f"{_COMPILE_QUICKLY} {given}".strip()}


def _can_fork(sandbox: Sandbox) -> bool:
    """Whether forking after the import of jax is safe here: Linux, and no accelerator's library."""
    if sys.platform != "linux" or os.environ.get("JAXLINGS_FORK") == "0":
        return False
    if sandbox.layers or os.environ.get("JAX_PLATFORMS", "").strip() == "cpu":
        return True
    return not any(map(importlib.util.find_spec, PLUGINS))


def _ended(status: int) -> str:
    """A wait status in words."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with contextlib.suppress(ValueError):
            return f"it was ended by {signal.Signals(number).name}"
        return f"it was ended by signal {number}"
    return f"it left with exit status {os.WEXITSTATUS(status)}"


def deadline_in(seconds: float) -> float:
    """The moment `seconds` from now on the clock that deadlines are on."""
    return time.monotonic() + seconds
