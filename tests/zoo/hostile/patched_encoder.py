# hostile: replaces the worker's encoder, channel and snapshots by its own
# verdict: failed error crashed
import sys

import numpy as np


def attack():
    worker, wire = sys.modules.get("grader.worker"), sys.modules.get("grader.wire")
    if worker and wire:
        worker.plain = lambda value: True
        worker._Snapshot.changed = lambda self: ()
        wire.Writer._node = lambda self, value, depth: value
        wire.MAX_HEADER = wire.MAX_BODY = wire.MAX_DEPTH = 1 << 60
        wire.DTYPES["object"] = np.dtype(object)


attack()


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
