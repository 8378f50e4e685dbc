# hostile: sends what it knows over TCP, UDP, path and abstract sockets, and listens
# verdict: failed error
# layers: each
import socket
import struct


def attack():
    done = []
    for port in PORTS:
        for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                try:
                    with socket.socket(family, kind) as sock:
                        sock.settimeout(0.5)
                        sock.connect((address, port))
                        sock.send(b"hello")
                        done.append(f"CANARY-CONNECTED {address} {port}")
                except OSError:
                    pass
    for name in ("\0jaxlings-canary", "/tmp/jaxlings-canary.socket", "/run/docker.sock"):
        try:
            with socket.socket(socket.AF_UNIX) as sock:
                sock.connect(name)
                done.append(f"CANARY-CONNECTED {name!r}")
        except OSError:
            pass
    for family in (16, 17, 38, 40):  # netlink, packets, the kernel's crypto, virtual machines
        try:
            socket.socket(family, socket.SOCK_RAW).close()
            done.append(f"CANARY-SOCKET {family}")
        except (OSError, ValueError):
            pass
    raise RuntimeError(f"FOUND {done}")


PORTS = (22, 80, 443, 8888, 47_653)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
