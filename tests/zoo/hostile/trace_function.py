# hostile: installs trace and profile functions that change what they see
# verdict: failed error timeout
import sys
import threading


def spy(frame, event, argument):
    for name in list(frame.f_locals):
        if name in ("expected", "want", "reply"):
            frame.f_locals[name] = {"value": True}
    return spy


def attack():
    sys.settrace(spy)
    sys.setprofile(spy)
    threading.settrace(spy)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
