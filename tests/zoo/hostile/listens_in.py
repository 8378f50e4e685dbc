# hostile: looks for others by what it can watch: files read, locks, limits of the kernel, sockets
# verdict: failed error
# layers: each
import ctypes
import fcntl
import glob
import os
import sys


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    found = []
    for path in ("/proc/net/unix", "/proc/net/tcp", "/proc/sched_debug", "/proc/locks"):
        try:
            with open(path) as file:
                found += [line for line in file if "canary" in line]
        except OSError:
            pass
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path) as file:
                found += [text for text in [file.read()] if "hostile_driver" in text]
        except OSError:
            pass
    # What a lock is left on, the next one would wait for.
    for path in (sys.modules["grader.worker"].__file__, os.__file__):
        try:
            fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pass
    if libc.fanotify_init(0, 0) >= 0:
        found.append("CANARY-FANOTIFY")
    if libc.ptrace(0x4206, os.getppid(), 0, 0) == 0:
        found.append("CANARY-PTRACE")
    said = " ".join(f"CANARY-{str(one)[:60]}" for one in found)
    raise RuntimeError(f"FOUND {said}")


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
