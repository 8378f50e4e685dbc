"""What the filter decides, read off the filter itself: both architectures, without a kernel."""

from __future__ import annotations

import errno
import struct

import pytest

from grader.sandbox import seccomp

KILL, ALLOW = 0x80000000, 0x7FFF0000
DENY, ABSENT = 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
PID = 4242
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# (name, x86_64, aarch64) of calls that JAX, NumPy and Matplotlib live on.
NEEDED = {
    "read": (0, 63),
    "write": (1, 64),
    "openat": (257, 56),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "futex": (202, 98),
    "recvfrom": (45, 207),
    "sendto": (44, 206),
    "exit_group": (231, 94),
    "sched_getaffinity": (204, 123),
    "rseq": (334, 293),
}


@pytest.fixture(params=ARCHITECTURES)
def architecture(request, monkeypatch):
    monkeypatch.setattr(seccomp, "machine", lambda: request.param)
    return request.param


def decide(architecture: str, number: int, *args: int, arch: int | None = None) -> int:
    """Runs the filter on one system call as the kernel would; returns its action."""
    wide = [arg & (1 << 64) - 1 for arg in (*args, *[0] * (6 - len(args)))]
    code = arch if arch is not None else ARCHITECTURES[architecture]
    data = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, code, 0, *wide)
    lines = list(struct.iter_unpack("=HBBI", seccomp.program(PID)))
    accumulator = place = 0
    while True:
        code, yes, no, value = lines[place]
        place += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", data, value)
            case 0x06:
                return value
            case 0x15:
                place += yes if accumulator == value else no
            case 0x25:
                place += yes if accumulator > value else no
            case 0x45:
                place += yes if accumulator & value else no
            case _:
                raise AssertionError(f"unknown instruction {code:#x}")


def number(name: str, architecture: str) -> int | None:
    column = list(ARCHITECTURES).index(architecture)
    return {**seccomp._DENIED, **seccomp._CHECKED, **NEEDED}[name][column]


def test_a_denied_call_fails_whatever_its_arguments(architecture):
    calls = {name: number(name, architecture) for name in seccomp._DENIED}
    for name, call in calls.items():
        if call is not None:  # the architecture has no such call
            assert decide(architecture, call) == DENY, name
            assert decide(architecture, call, PID, 1, 2, 3) == DENY, name


@pytest.mark.parametrize("name", NEEDED)
def test_what_jax_needs_is_allowed(architecture, name):
    assert decide(architecture, number(name, architecture), 3, 4, 5) == ALLOW


def test_a_thread_may_be_made_but_no_process_and_no_namespace(architecture):
    clone = number("clone", architecture)
    thread = 0x003D0F00  # what the C library's pthread_create asks for
    assert decide(architecture, clone, thread) == ALLOW
    assert decide(architecture, clone, 17) == DENY  # fork: SIGCHLD alone
    assert decide(architecture, clone, 0x4111) == DENY  # vfork
    for namespace in (0x20000, 0x2000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80):
        assert decide(architecture, clone, thread | namespace) == DENY


def test_clone3_looks_absent_so_that_the_c_library_falls_back(architecture):
    assert decide(architecture, number("clone3", architecture), 0x7000, 88) == ABSENT


@pytest.mark.parametrize("name", ["kill", "tgkill"])
def test_signals_reach_only_the_process_itself(architecture, name):
    call = number(name, architecture)
    assert decide(architecture, call, PID, 6) == ALLOW
    for other in (PID + 1, 1, 0, -1, -PID):
        assert decide(architecture, call, other, 9) == DENY


def test_limits_and_cores_of_other_processes_are_out_of_reach(architecture):
    for name in ("prlimit64", "sched_setaffinity"):
        call = number(name, architecture)
        assert decide(architecture, call, 0) == ALLOW
        assert decide(architecture, call, PID) == ALLOW
        assert decide(architecture, call, PID - 1) == DENY


def test_the_only_sockets_are_a_pair_of_the_processs_own(architecture):
    call = number("socketpair", architecture)
    assert decide(architecture, call, 1, 1 | 0x80800) == ALLOW  # AF_UNIX, a stream, with flags
    for kind in (2, 3, 4, 5, 6, 10):  # a datagram could be sent to somebody else
        assert decide(architecture, call, 1, kind) == DENY
    for family in (0, 2, 10, 16, 30, 38, 40):
        assert decide(architecture, call, family, 1) == DENY


def test_no_descriptor_can_be_made_to_signal_another_process(architecture):
    fcntl, ioctl = number("fcntl", architecture), number("ioctl", architecture)
    assert decide(architecture, fcntl, 3, 4, 0x800) == ALLOW  # F_SETFL
    for command in (8, 10, 15):  # F_SETOWN, F_SETSIG, F_SETOWN_EX
        assert decide(architecture, fcntl, 3, command, 1) == DENY
    assert decide(architecture, ioctl, 3, 0x5401) == ALLOW  # TCGETS: is this a terminal?
    for command in (0x8901, 0x8902, 0x5412, 0x541C):
        assert decide(architecture, ioctl, 3, command) == DENY
        assert (
            decide(architecture, ioctl, 3, command | 7 << 32) == DENY
        )  # the kernel ignores these bits


def test_the_worker_cannot_outlive_its_parent(architecture):
    prctl = number("prctl", architecture)
    assert decide(architecture, prctl, 15) == ALLOW  # PR_SET_NAME
    assert decide(architecture, prctl, 1, 0) == DENY  # PR_SET_PDEATHSIG


@pytest.mark.parametrize("call", [457, 462, 470, 1000, 0x40000000 + 57, 0x7FFFFFFF, -1])
def test_calls_newer_than_the_list_and_the_x32_twins_do_not_exist(architecture, call):
    assert decide(architecture, call) == ABSENT


def test_the_calls_of_another_architecture_end_the_process(architecture):
    i386 = 0x40000003
    assert decide(architecture, 2, arch=i386) == KILL


def test_the_numbers_are_the_kernels_on_this_machine():
    headers = {"x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"}
    path = headers.get(seccomp.machine())
    try:
        text = open(path or "").read()
    except OSError:
        pytest.skip("the kernel's headers are not installed")
    known = dict(
        line.split()[1:3] for line in text.splitlines() if line.startswith("#define __NR_")
    )
    for name, (wanted, _) in {**seccomp._DENIED, **seccomp._CHECKED}.items():
        if wanted is not None and f"__NR_{name}" in known:
            assert int(known[f"__NR_{name}"]) == wanted, name
