"""System calls that a worker gives up: new processes, programs, sockets, kernel interfaces.

A short filter of classic BPF, assembled here. It denies by name, and it denies every call that is
newer than the list, which keeps it closed on kernels to come. By an error instead of death: a
library that tries a call and lives without it goes on working.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from grader.sandbox.system import ConfinementError, check, machine, on_linux, prctl, syscall

# Numbers on (x86_64, aarch64); None where the architecture has no such call.
_DENIED: dict[str, tuple[int | None, int | None]] = {
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "socket": (41, 198),
    "bind": (49, 200),
    "connect": (42, 203),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "mount_setattr": (442, 442),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "vmsplice": (278, 75),
    "splice": (275, 76),
    "tee": (276, 77),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "set_mempolicy_home_node": (450, 450),
    "seccomp": (317, 277),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    "personality": (135, 92),
    "modify_ldt": (154, None),
    "iopl": (172, None),
    "ioperm": (173, None),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "create_module": (174, None),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "vhangup": (153, 58),
    "uselib": (134, None),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "_sysctl": (156, None),
    "sysfs": (139, None),
    "ustat": (136, None),
}
_CHECKED: dict[str, tuple[int, int]] = {
    "socketpair": (53, 199),
    "clone": (56, 220),
    "clone3": (435, 435),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
}
_NEWEST = 456  # futex_requeue: later calls do not exist for a worker
_ARCHITECTURES = {"x86_64": (0xC000003E, 0, 317), "aarch64": (0xC00000B7, 1, 277)}

_CLONE_THREAD = 0x00010000
_CLONE_NEW = 0x7E020080  # any namespace
# Through these a process makes the kernel send any signal to any process of its user.
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX = 8, 10, 15
_FIOSETOWN, _SIOCSPGRP = 0x8901, 0x8902
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # typing on a terminal for its user
_AF_UNIX, _ANY_BUT_STREAM = 1, 0xE  # the bits of every other type of socket
_PR_SET_PDEATHSIG = 1  # the worker is to die with its parent

_LOAD, _JEQ, _JGT, _JSET, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_KILL, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_NR, _ARCH, _ARGS = 0, 4, 16  # offsets in the kernel's struct seccomp_data
_DENY = _ERRNO | errno.EPERM
_ABSENT = _ERRNO | errno.ENOSYS

_NO_NEW_PRIVS = 38
_SET_MODE_FILTER = 1


def available() -> bool:
    """Whether this kernel takes a filter and this module knows the architecture."""
    if not on_linux() or machine() not in _ARCHITECTURES:
        return False
    number = _ARCHITECTURES[machine()][2]
    action = ctypes.c_uint32(_ERRNO)
    return syscall(number, 2, 0, ctypes.byref(action)) == 0  # SECCOMP_GET_ACTION_AVAIL


def install() -> None:
    """Filters every later system call of this process, which must have one thread, for good.

    Raises:
      ConfinementError: the kernel refuses, or the architecture is not known.
    """
    if machine() not in _ARCHITECTURES:
        raise ConfinementError(f"seccomp: no table of system calls for {machine()}")
    code = program(os.getpid())
    buffer = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    wanted = Program(len(code) // 8, ctypes.addressof(buffer))
    check(prctl(_NO_NEW_PRIVS, 1), "no_new_privs")
    number = _ARCHITECTURES[machine()][2]
    check(syscall(number, _SET_MODE_FILTER, 0, ctypes.byref(wanted)), "seccomp")


def program(pid: int) -> bytes:
    """The filter for a process that calls itself `pid`, as the kernel's instructions."""
    architecture, column, _ = _ARCHITECTURES[machine()]
    lines = [
        _line(_LOAD, _ARCH),
        *_when(_JEQ, architecture, None, _KILL),
        _line(_LOAD, _NR),
        *_when(_JGT, _NEWEST, _ABSENT, None),
    ]
    for numbers in _DENIED.values():
        if (number := numbers[column]) is not None:
            lines += _when(_JEQ, number, _DENY, None)
    for name, numbers in _CHECKED.items():
        rules = _rules(name, pid)
        lines += [_line(_JEQ, numbers[column], 0, len(rules)), *rules]
    return b"".join([*lines, _line(_RETURN, _ALLOW)])


def _rules(name: str, pid: int) -> list[bytes]:
    """What decides on the call `name` by its arguments; ends in a return."""

    def argument(index: int) -> bytes:
        return _line(_LOAD, _ARGS + 8 * index)  # the low half, which is all these arguments have

    def only(index: int, *values: int) -> list[bytes]:
        allowed = [line for value in values for line in _when(_JEQ, value, _ALLOW, None)]
        return [argument(index), *allowed, _line(_RETURN, _DENY)]

    def never(index: int, *values: int) -> list[bytes]:
        denied = [line for value in values for line in _when(_JEQ, value, _DENY, None)]
        return [argument(index), *denied, _line(_RETURN, _ALLOW)]

    match name:
        case "socketpair":  # asyncio wakes itself by one; a stream of two ends leads nowhere else
            return [
                argument(1),
                *_when(_JSET, _ANY_BUT_STREAM, _DENY, None),
                *only(0, _AF_UNIX),
            ]
        case "clone":
            return [
                argument(0),
                *_when(_JSET, _CLONE_NEW, _DENY, None),
                *_when(_JSET, _CLONE_THREAD, _ALLOW, None),
                _line(_RETURN, _DENY),
            ]
        case (
            "clone3"
        ):  # its flags are in memory, out of a filter's sight; the C library then uses clone
            return [_line(_RETURN, _ABSENT)]
        case "kill" | "tgkill":
            return only(0, pid)
        case "prlimit64" | "sched_setaffinity":
            return only(0, 0, pid)
        case "fcntl":
            return never(1, _F_SETOWN, _F_SETSIG, _F_SETOWN_EX)
        case "ioctl":
            return never(1, _FIOSETOWN, _SIOCSPGRP, _TIOCSTI, _TIOCLINUX)
        case _:
            return never(0, _PR_SET_PDEATHSIG)  # prctl


def _line(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, when_true, when_false, value)


def _when(test: int, value: int, yes: int | None, no: int | None) -> list[bytes]:
    """A test that returns `yes` or `no` at once, and goes on where that is None."""
    if no is None:
        assert yes is not None
        return [_line(test, value, 0, 1), _line(_RETURN, yes)]
    return [_line(test, value, 1, 0), _line(_RETURN, no)]
