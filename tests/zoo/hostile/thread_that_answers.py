# hostile: leaves a thread that writes replies between the calls
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


def attack():
    import threading
    import time

    def run():
        import msgspec

        while True:
            header = msgspec.msgpack.encode(["d", ["value", "changed", "id"], [3, ["t", []], 0]])
            try:
                send(struct.pack(">II", len(header), 0) + header)
            except OSError:
                return
            time.sleep(0.01)

    threading.Thread(target=run, daemon=True).start()


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
