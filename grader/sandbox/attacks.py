"""What a hostile submission would try, each as a function that returns when it succeeded.

Run inside a sandbox by `selftest`; the standard library only.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from grader.sandbox import confine
from grader.sandbox.system import check, libc

# What the functions below are told: paths, sockets, a process, whether the trusted side is root.
Targets = Mapping[str, Any]


def read_file(targets: Targets) -> str:
    return f"a file outside was read: {Path(targets['canary']).read_text()[:20]}"


def read_system_file(targets: Targets) -> str:
    return f"the users of the system were read: {len(Path('/etc/passwd').read_bytes())} bytes"


def list_folder(targets: Targets) -> str:
    return f"a folder outside was listed: {os.listdir(Path(targets['canary']).parent)[:3]}"


def write_file(targets: Targets) -> str:
    written = Path(targets["canary"]).with_name("written")
    written.write_text("x")
    return "a file outside was written"


def read_environment(targets: Targets) -> str:
    return (
        f"{len(Path('/proc', str(targets['victim']), 'environ').read_bytes())} bytes of another's"
    )


def read_memory(targets: Targets) -> str:
    with Path("/proc", str(targets["victim"]), "mem").open("rb"):
        return "the memory of another process was opened"


def connect_tcp(targets: Targets) -> str:
    socket.create_connection(("127.0.0.1", targets["port"]), timeout=2).close()
    return "a TCP connection was made"


def connect_path(targets: Targets) -> str:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(targets["socket"])
    return "a socket in the file tree was connected to"


def connect_abstract(targets: Targets) -> str:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect("\0" + targets["abstract"])
    return "an abstract socket was connected to"


def fork(targets: Targets) -> str:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "a process was forked"


def start_program(targets: Targets) -> str:
    subprocess.run([sys.executable, "-c", ""], check=False)
    return "a program was started"


def kill(targets: Targets) -> str:
    os.kill(targets["victim"], 0)
    return "a signal reached another process"


def trace(targets: Targets) -> str:
    attach = 16
    check_os(libc().ptrace(attach, targets["victim"], 0, 0))
    return "another process was traced"


def unshare(targets: Targets) -> str:
    check_os(libc().unshare(0x10000000))
    return "a user namespace was made, in which this process is root"


def memfd(targets: Targets) -> str:
    os.close(os.memfd_create("x"))
    return "an anonymous file was made"


def memory(targets: Targets) -> str:
    mmap.mmap(-1, 1 << 36, prot=mmap.PROT_READ).close()
    return "64 GiB of addresses were reserved"


def be_root(targets: Targets) -> str:
    if not targets["root"] or 0 not in os.getresuid():
        raise PermissionError("not root")
    return "the process is root"


ATTACKS: dict[str, Callable[[Targets], str]] = {
    "read a file outside": read_file,
    "read a file of the system": read_system_file,
    "list a folder outside": list_folder,
    "write a file outside": write_file,
    "read another process's environment": read_environment,
    "open another process's memory": read_memory,
    "connect over TCP": connect_tcp,
    "connect to a socket in the file tree": connect_path,
    "connect to an abstract socket": connect_abstract,
    "fork": fork,
    "start a program": start_program,
    "signal another process": kill,
    "trace another process": trace,
    "make an anonymous file": memfd,
    "reserve 64 GiB": memory,
    "be root": be_root,
    "make a namespace": unshare,  # last: it changes who the process is
}


def check_os(result: int) -> None:
    """Raises the error of the C library's last call where `result` says that it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def main() -> None:
    """Confines this process, or a fork of it, and prints what came of the attacks as JSON."""
    task = json.loads(sys.stdin.read())
    if task["fork"] and (child := confine.fork(task["spec"])):
        os.waitpid(child, 0)
        return
    try:
        confine.apply(task["spec"])
        _work()
        report: dict[str, Any] = {
            "done": {name: _try(ATTACKS[name], task["targets"]) for name in task["attacks"]}
        }
    except Exception as error:
        report = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(report), flush=True)
    os._exit(0)


def _work() -> None:
    """What an honest submission does: writes beside itself, computes in threads."""
    Path("plot.png").write_bytes(b"x" * 1000)
    done: list[int] = []
    thread = threading.Thread(target=done.append, args=(1,))
    thread.start()
    thread.join()
    check(0 if done else -1, "a thread")
    Path("plot.png").unlink()


def _try(attack: Callable[[Targets], str], targets: Targets) -> str | None:
    """None when the attack was stopped, else what it did."""
    try:
        return attack(targets)
    except (OSError, MemoryError):
        return None
    except Exception as error:
        return f"it could not be tried: {type(error).__name__}: {error}"
