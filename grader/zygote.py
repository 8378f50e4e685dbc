"""The process that workers are forked from, and the start of a worker that is not forked.

The zygote imports jax and optax once and starts no backend, so that a fork (which copies one thread
only) is safe and a worker is there in milliseconds. It never sees a submission.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from grader.sandbox import confine

MAX_MESSAGE = 1 << 16


def preload() -> None:
    """Imports what every worker needs."""
    for name in ("jax", "jax.numpy", "optax", "grader.worker", "grader.probes.common"):
        importlib.import_module(name)


def main(control: int) -> None:
    """Serves requests for workers on the socket `control` until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the trusted side to handle
    sock = socket.socket(fileno=control)
    preload()
    sock.send(b'{"ready": true}')
    while True:
        message, fds, _, _ = socket.recv_fds(sock, MAX_MESSAGE, 2)
        if not message:
            return
        request = json.loads(message)
        if "status" in request:
            sock.send(json.dumps({"status": _status(request["status"])}).encode())
            continue
        reason = unsafe_to_fork()
        if reason:
            sock.send(json.dumps({"error": reason}).encode())
        else:
            pid = confine.fork(request["spec"])
            if pid == 0:
                sock.close()
                run_worker(fds[0], fds[1], request)
            pidfd = os.pidfd_open(pid)
            socket.send_fds(sock, [json.dumps({"pid": pid}).encode()], [pidfd])
            os.close(pidfd)
        for fd in fds:
            os.close(fd)


def run_worker(channel: int, output: int, request: dict[str, Any]) -> None:
    """Turns this process into a worker on the socket `channel`, and never returns.

    `request` has the `spec` of its confinement and what to add to its `environment`; XLA reads its
    flags there when the backend starts.
    """
    try:
        os.environ.update(request["environment"])
        os.setsid()
        null = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((null, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        for fd in {null, output} - {0, 1, 2}:
            os.close(fd)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        confine.apply(request["spec"], keep={channel})
        _own_matplotlib_folder()
        from grader.wire import Channel
        from grader.worker import Worker, as_numpy

        Worker().serve(Channel(socket.socket(fileno=channel), as_numpy))
        os._exit(0)
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(70)


def cold_worker(channel: int) -> None:
    """A worker of its own interpreter: imports first, then waits for what it is to be."""
    preload()
    sock = socket.socket(fileno=channel)
    size = int.from_bytes(sock.recv(4, socket.MSG_WAITALL))
    request = json.loads(sock.recv(size, socket.MSG_WAITALL))
    run_worker(sock.detach(), os.dup(1), request)


def unsafe_to_fork() -> str | None:
    """Why a fork of this process would not be safe, or None."""
    from jax._src import xla_bridge

    tasks = Path("/proc/self/task")
    count = len(list(tasks.iterdir())) if tasks.is_dir() else threading.active_count()
    if count != 1:
        return f"{count} threads are running"
    if xla_bridge.backends_are_initialized():
        return "a backend is initialised"
    return None


def _status(pid: int) -> int:
    return os.waitpid(pid, 0)[1]


def _own_matplotlib_folder() -> None:
    # Matplotlib wants a folder that it can write; a copied font list saves it a second.
    folder = tempfile.mkdtemp(prefix="matplotlib-")
    for fonts in Path(os.environ.get("JAXLINGS_CACHE", ""), "matplotlib").glob("fontlist-*.json"):
        shutil.copy(fonts, folder)
    os.environ["MPLCONFIGDIR"] = folder


if __name__ == "__main__":
    {"zygote": main, "cold": cold_worker}[sys.argv[1]](int(sys.argv[2]))
