# hostile: removes and rewrites its own files and the given module between the calls
# verdict: failed error
# layers: each
import os
import shutil


def attack():
    for name in os.listdir("."):
        try:
            os.remove(name)
        except OSError:
            shutil.rmtree(name, ignore_errors=True)
    for name in ("generic_mlp.py", "mnist_mlp.py", "jax.py", "numpy.py", "conftest.py"):
        with open(name, "w") as file:
            file.write("def num_layers(params):\n    return 3\n")
    os.chdir("/")


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
