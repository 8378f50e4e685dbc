# hostile: raises its resource limits and those of others
# verdict: failed error
# layers: each
import os
import resource


def attack():
    done = []
    for name in dir(resource):
        if name.startswith("RLIMIT_"):
            number = getattr(resource, name)
            before = resource.getrlimit(number)
            for wanted in ((-1, -1), (before[1], -1)):
                try:
                    resource.setrlimit(number, wanted)
                    if before[1] != -1:
                        done.append(f"CANARY-RAISED {name}")
                except (OSError, ValueError):
                    pass
    for pid in {os.getppid(), 1, 2} - {0, os.getpid()}:
        try:
            resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1))
            done.append(f"CANARY-LIMITED {pid}")
        except OSError:
            pass
    raise RuntimeError(f"FOUND {done}")


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
