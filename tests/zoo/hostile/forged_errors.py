# hostile: answers with descriptions of errors that are no descriptions
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


STATE = {"next": 0}
FORGED = [
    5,
    None,
    ["l", []],
    ["d", ["type"], [["l", []]]],
    ["d", ["type", "message"], ["\x1b[2J<script>", "x" * 100_000]],
    ["d", ["bases"], [["l", [["l", []], ["d", [], []]]]]],
    ["d", ["frames"], [["l", [["t", [1, 2, 3, 4]], ["t", ["f", 2**63, "g", None]]]]]],
    ["d", ["frames"], [["l", [["t", ["../../etc/passwd", 1, "f", "x" * 9999]]] * 500]]],
    ["d", ["type", "bases"], ["SystemExit", ["t", ["object"] * 1000]]],
]


def attack():
    import sys

    import msgspec

    here = sys._getframe()
    while here:
        for value in here.f_locals.values():
            if isinstance(value, dict) and isinstance(value.get("id"), int):
                forged = FORGED[STATE["next"] % len(FORGED)]
                STATE["next"] += 1
                for name in ("error", "grader_error"):
                    node = ["d", [name, "id"], [forged, value["id"]]]
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
