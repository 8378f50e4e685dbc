# hostile: makes a system call of 32-bit x86, which numbers them differently
# verdict: crashed error failed
# layers: each
import ctypes
import mmap
import platform

HIT = "CANARY-FORKED"


def attack():
    if platform.machine() != "x86_64":
        raise OSError
    code = mmap.mmap(-1, 4096, prot=7)
    code.write(b"\xb8\x02\x00\x00\x00\xcd\x80\xc3")  # mov eax, 2 (fork); int 0x80; ret
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    if ctypes.CFUNCTYPE(ctypes.c_int)(address)() >= 0:
        raise RuntimeError("FOUND " + HIT)
    raise OSError


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
