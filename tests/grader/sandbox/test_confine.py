"""What a confined process can and cannot do, under each set of mechanisms that this machine has."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from grader.sandbox import Sandbox
from tests.grader.sandbox import inside

everywhere = pytest.mark.parametrize("sandbox", inside.confining())
private = pytest.mark.parametrize("sandbox", inside.confining("namespaces"))


@pytest.fixture
def folder():
    """A folder that every user can pass through, which pytest's own is not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


def told(sandbox: Sandbox, code: str, **names):
    """What `code` leaves in `answer`, from within."""
    ended = inside.run(
        sandbox, textwrap.dedent(code) + "\nimport json\nprint(json.dumps(answer))", **names
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


@everywhere
def test_the_process_has_no_rights_of_root(sandbox):
    answer = told(
        sandbox,
        """
        import ctypes, os
        header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        ctypes.CDLL(None).capget(header, data)
        answer = [list(data), list(os.getresuid()), list(os.getresgid()), os.getgroups()]
        """,
    )
    capabilities, users, groups, more = answer
    assert capabilities == [0] * 6
    assert 0 not in users
    assert 0 not in groups
    assert 0 not in more


@everywhere
def test_it_works_in_an_empty_folder_that_home_and_tmpdir_name(sandbox):
    answer = told(
        sandbox,
        """
        import os, tempfile
        open("plot.png", "w").write("x")
        os.makedirs("plots/more")
        os.rename("plot.png", "plots/plot.png")
        with tempfile.NamedTemporaryFile() as file:
            beside = os.path.dirname(file.name) == os.getcwd()
        answer = [os.getcwd() == os.environ["HOME"] == os.environ["TMPDIR"], beside]
        """,
    )
    assert answer == [True, True]


@everywhere
def test_what_is_readable_cannot_be_written(sandbox, folder):
    given = folder / "cache"
    given.mkdir()
    given.chmod(0o777)
    (given / "entry").write_text("honest")
    (given / "entry").chmod(0o666)
    answer = told(
        sandbox,
        """
        import os
        answer = {"read": open(f"{given}/entry").read()}
        tries = {
            "overwrite": lambda: open(f"{given}/entry", "w").write("forged"),
            "add": lambda: open(f"{given}/new", "w").write("forged"),
            "remove": lambda: os.remove(f"{given}/entry"),
            "replace": lambda: os.rename(given, given + "2"),
            "truncate": lambda: os.truncate(f"{given}/entry", 0),
        }
        for name, attempt in tries.items():
            try:
                attempt()
                answer[name] = "done"
            except OSError:
                pass
        """,
        readable=[given],
        given=str(given),
    )
    assert answer == {"read": "honest"}
    assert [path.name for path in given.iterdir()] == ["entry"]
    assert (given / "entry").read_text() == "honest"


@everywhere
def test_only_the_descriptors_that_were_kept_stay_open(sandbox):
    answer = told(
        sandbox,
        """
        import os
        answer = []
        for fd in range(3, 256):
            try:
                os.fstat(fd)
                answer.append(fd)
            except OSError:
                pass
        """,
    )
    assert answer == []


REFUSED = {
    "raise a limit": "resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))",
    "a large file": "open('large', 'wb').truncate(1 << 30)",
    "much memory": "bytearray(1 << 36)",
    "many files": "[open('/dev/null') for _ in range(1000)]",
    "a process group": "os.kill(0, 9)",
    "everybody": "os.kill(-1, 9)",
    "the parent": "os.kill(os.getppid() or 2, 9)",
    "an io signal": "fcntl.fcntl(1, fcntl.F_SETOWN, 1)",
    "a pipe with a name": "os.mkfifo('pipe')",
    "shared memory": "system(29, 0, 4096, 0o1600)",
    "another's limits": "resource.prlimit(os.getppid() or 2, resource.RLIMIT_CPU, (1, 1))",
    "a terminal": "open('/dev/tty')",
    "a new terminal": "os.openpty()",
    "the memory of the machine": "open('/dev/mem')",
    "the folders of the users": "os.listdir('/home')",
    "root's folder": "os.listdir('/root')",
    "a mount": "mount(b'tmpfs', b'/mnt', b'tmpfs', 0, b'')",
    "a mount made writable": "mount(b'', b'/', b'', 32 | 4096, b'')",
    "the tree let go": "os.chroot('.')",
}


@everywhere
def test_refused(sandbox):
    answer = told(
        sandbox,
        """
        import ctypes, errno, fcntl, os, resource
        def checked(result):
            if result < 0:
                raise OSError(ctypes.get_errno(), "")
        libc = ctypes.CDLL(None, use_errno=True)
        system = lambda *args: checked(libc.syscall(*args))
        mount = lambda *args: checked(libc.mount(*args))
        answer = []
        for name, attempt in attempts.items():
            try:
                exec(attempt)
                answer.append(name)
            except (OSError, ValueError, MemoryError):
                pass
        """,
        attempts=REFUSED,
    )
    assert answer == []


@private
def test_the_working_folder_has_a_size(sandbox):
    answer = told(
        sandbox,
        """
        import os
        written = 0
        try:
            for number in range(100):
                with open(f"file{number}", "wb") as file:
                    for _ in range(32):
                        written += file.write(bytes(1 << 20))
        except OSError as error:
            answer = [written >> 20, error.errno]
        """,
    )
    assert answer[0] <= 64
    assert os.strerror(answer[1]) == "No space left on device"


@private
def test_the_working_folder_has_a_number_of_files(sandbox):
    answer = told(
        sandbox,
        """
        answer = 0
        try:
            for answer in range(100_000):
                open(f"file{answer}", "w").close()
        except OSError:
            pass
        """,
    )
    assert answer < 5000


@private
def test_proc_holds_nothing_but_the_machine(sandbox):
    answer = told(
        sandbox,
        """
        import os
        names = ["cpuinfo", "meminfo", "1", "self", "thread-self", "mounts", "kallsyms", "sys"]
        answer = [os.getpid(), [name for name in names if os.path.lexists(f"/proc/{name}")]]
        """,
    )
    assert answer == [1, ["cpuinfo", "meminfo"]]


@everywhere
def test_nothing_can_be_written_anywhere_else(sandbox):
    answer = told(
        sandbox,
        """
        import os
        answer, seen = [], 0
        for folder, folders, files in os.walk("/"):
            folders[:] = [name for name in folders if os.path.join(folder, name) != os.getcwd()]
            seen += 1
            if seen > 3000:
                break
            try:
                open(os.path.join(folder, "canary"), "w").close()
                answer.append(folder)
            except OSError:
                pass
        """,
    )
    assert answer == []


@everywhere
def test_a_fork_bomb_makes_nothing(sandbox):
    answer = told(
        sandbox,
        """
        import os, threading
        answer = 0
        spawn = lambda: os.posix_spawn("/bin/true", ["true"], {})
        for make in (os.fork, os.forkpty, spawn):
            try:
                answer += make() is not None
            except OSError:
                pass
        threads, hold = 0, threading.Event()
        try:
            for threads in range(5000):
                threading.Thread(target=hold.wait, daemon=True).start()
        except RuntimeError:
            pass
        answer = [answer, threads < 4000]
        hold.set()
        """,
    )
    assert answer == [0, True]


@pytest.mark.parametrize(
    "sandbox",
    [case for case in inside.confining() if case.values[0].forks]
    + [pytest.param(Sandbox(), id="none")],
)
def test_a_worker_dies_with_the_process_that_it_was_forked_from(sandbox, folder):
    (folder / "work").mkdir()
    spec = sandbox.spec(folder / "work", readable=[inside.PACKAGE])
    marker = f"marker-{os.getpid()}-{folder.name}"
    code = (
        f"import sys, time; sys.path.insert(0, {str(inside.PACKAGE.parent)!r})\n"
        "from grader.sandbox import confine\n"
        f"child = confine.fork({spec!r})\n"
        f"child or confine.apply({spec!r})\n"
        "child or print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    argv = [sys.executable, "-I", "-S", "-B", "-c", code, marker]
    parent = subprocess.Popen(
        sandbox.command(argv, readable=[inside.PACKAGE]), stdout=subprocess.PIPE, text=True, env={}
    )
    assert parent.stdout.readline() == "ready\n"
    assert len(_running(marker)) >= 2
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 10
    while _running(marker) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert _running(marker) == []


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs util-linux's unshare")
def test_where_namespaces_are_refused_a_fork_says_so_and_leaves_nothing():
    code = (
        f"import os, sys; sys.path.insert(0, {str(inside.PACKAGE.parent)!r})\n"
        "from grader.sandbox.system import ConfinementError\n"
        "from grader.sandbox import confine\n"
        "try:\n"
        "    confine.fork({'layers': ['namespaces']})\n"
        "except ConfinementError as error:\n"
        "    print(error)\n"
        "try:\n"
        "    os.wait()\n"
        "except ChildProcessError:\n"
        "    print('no child')\n"
    )
    refused = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    ended = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", refused, "sh", sys.executable, "-I", "-S", "-B", "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in ended.stderr:
        pytest.skip("this machine refuses user namespaces to everybody")
    assert ended.stdout.splitlines() == ["unshare: No space left on device", "no child"]


def _running(marker: str) -> list[int]:
    """The processes with `marker` on their command line."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = open(f"/proc/{name}/cmdline", "rb").read()
            state = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if marker.encode() in line and state != "Z":
            found.append(int(name))
    return found
