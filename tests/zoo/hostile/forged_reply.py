# hostile: writes a reply of its own to the channel: passed, no error, any value
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


def frame(header, body=b""):
    return struct.pack(">II", len(header), len(body)) + header + body


def attack():
    import msgspec

    for value in (True, "passed", {"outcome": "passed", "points": 20}, None):
        node = ["d", ["value", "changed", "id"], [value if not isinstance(value, dict) else None, ["t", []], 0]]
        send(frame(msgspec.msgpack.encode(node)))


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
