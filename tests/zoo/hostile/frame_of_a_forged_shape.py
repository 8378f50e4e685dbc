# hostile: sends arrays whose shape, dtype and bytes do not fit
# verdict: failed error
import os
import stat
import struct


def channels():
    """The descriptors that are sockets: one of them leads to the grader."""
    found = []
    for fd in range(256):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                found.append(fd)
        except OSError:
            pass
    return found


def send(data):
    for fd in channels():
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]


def attack():
    import msgspec

    for dtype, shape, body in (
        ("float32", [2**40], b""),
        ("float32", [-1, 4], b"x" * 16),
        ("float32", [0, 2**62, 2**62], b""),
        ("object", [1], b"x" * 8),
        ("float32", [4], b"x" * 15),
        ("S2147483647", [1], b"x"),
        ("float32", [1] * 200, b"x" * 4),
    ):
        header = msgspec.msgpack.encode(["d", ["value", "id"], [["a", dtype, shape], 0]])
        send(struct.pack(">II", len(header), len(body)) + header + body)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
