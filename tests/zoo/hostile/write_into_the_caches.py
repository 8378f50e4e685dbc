# hostile: writes into the compilation cache, the environment and the grader
# verdict: failed error
# layers: each
import glob
import os
import sys

import jax


def attack():
    done = []
    folders = [jax.config.jax_compilation_cache_dir or "", os.environ.get("JAXLINGS_CACHE", "")]
    folders += [os.path.dirname(sys.modules[name].__file__) for name in ("grader", "jax", "json")]
    for folder in filter(None, folders):
        targets = [os.path.join(folder, "canary-written"), *glob.glob(folder + "/*")[:3]]
        for path in targets:
            try:
                os.chmod(path if os.path.exists(path) else folder, 0o777)
                with open(path, "r+b" if os.path.exists(path) else "wb"):
                    done.append(f"CANARY-WRITTEN {path}")
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
