# hostile: installs audit hooks, import hooks and path hooks
# verdict: failed error
import sys


class Finder:
    def find_spec(self, name, path, target=None):
        raise ImportError(f"no {name}")


def attack():
    def hook(event, arguments):
        if event in ("open", "import", "compile"):
            raise RuntimeError("not now")

    sys.meta_path.insert(0, Finder())
    sys.addaudithook(hook)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
