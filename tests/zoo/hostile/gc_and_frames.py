# hostile: searches every live object and every frame for expected values and tests
# verdict: failed error
# layers: each
import gc
import sys


def attack():
    found = []
    for thread_frame in sys._current_frames().values():
        frame = thread_frame
        while frame:
            found += [str(value)[:200] for value in frame.f_locals.values()]
            found += [name for name in frame.f_globals if "expected" in name or "want" in name]
            frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, dict | list | tuple) and len(thing) < 50:
            text = str(type(thing))
            if "CANARY" in text or "oracle" in text:
                found.append(text)
    raise RuntimeError("FOUND " + " ".join(found)[-3000:])


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
