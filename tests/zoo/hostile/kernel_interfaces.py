# hostile: asks the kernel for namespaces, mounts, keys, tracing and rings
# verdict: failed error
# layers: each
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
CALLS = {
    "unshare": (272, 0x10000000),
    "setns": (308, 0, 0),
    "mount": (165, b"none", b"/tmp", b"tmpfs", 0, 0),
    "umount": (166, b"/proc", 2),
    "pivot_root": (155, b".", b"."),
    "chroot": (161, b"."),
    "keyctl": (250, 0, -3),
    "add_key": (248, b"user", b"x", b"y", 1, -2),
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, 0, 0, -1, -1, 0),
    "userfaultfd": (323, 0),
    "io_uring_setup": (425, 8, ctypes.create_string_buffer(200)),
    "memfd_secret": (447, 0),
    "open_by_handle_at": (304, -100, 0, 0),
    "clone3": (435, 0, 0),
    "seccomp": (317, 1, 0, 0),
    "personality": (135, 0x40000),
    "fsopen": (430, b"tmpfs", 0),
    "landlock": (444, 0, 0, 1),
    "shmget": (29, 0, 4096, 0o1600),
    "statmount": (457, 0, 0, 0, 0),
    "x32 fork": (0x40000000 + 57,),
}


def attack():
    import platform

    done = []
    if platform.machine() == "x86_64":
        done = [f"CANARY-CALL {name}" for name, call in CALLS.items() if libc.syscall(*call) >= 0]
    raise RuntimeError(f"FOUND {done}")


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
