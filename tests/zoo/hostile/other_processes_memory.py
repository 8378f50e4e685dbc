# hostile: reads and writes the memory of every other process by every call there is
# verdict: failed error
# layers: each
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def attack():
    found = []
    buffer = ctypes.create_string_buffer(4096)
    for pid in (*range(1, 300), os.getppid()):
        if pid == os.getpid():
            continue
        for request in (16, 0x4206):  # attach, seize
            if libc.ptrace(request, pid, 0, 0) == 0:
                found.append(f"traced {pid}")
        try:
            with open(f"/proc/{pid}/mem", "r+b"):
                found.append(f"opened the memory of {pid}")
        except OSError:
            pass
        vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 4096)
        remote = (ctypes.c_void_p * 2)(0x400000, 4096)
        for number in (310, 311):
            if libc.syscall(number, pid, vector, 1, remote, 1, 0) > 0:
                found.append(f"CANARY: reached the memory of {pid}")
        fd = libc.syscall(434, pid, 0)
        if fd >= 0 and libc.syscall(438, fd, 0, 0) >= 0:
            found.append(f"CANARY: stole a descriptor of {pid}")
    raise RuntimeError("FOUND " + " ".join(found)[:3000])


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
