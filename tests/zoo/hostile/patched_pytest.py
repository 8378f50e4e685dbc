# hostile: imports pytest and the grader and patches their verdicts
# verdict: failed error
import sys


def attack():
    import _pytest.runner
    import pytest

    import grader

    def passed(*args, **kwargs):
        return None

    for name in ("runtestprotocol", "call_and_report", "call_runtest_hook"):
        setattr(_pytest.runner, name, passed)
    for module in list(sys.modules.values()):
        for name in ("close", "require", "same", "array", "scalar", "_verdict", "record"):
            if getattr(module, "__name__", "").startswith("grader") and hasattr(module, name):
                setattr(module, name, passed)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
