# hostile: answers with references, keys and calls, which have every item and never end
# verdict: failed error crashed
import sys


def attack():
    worker, wire = sys.modules.get("grader.worker"), sys.modules.get("grader.wire")
    if worker and wire:
        odd = [wire.Ref(1), wire.KeySpec(1), wire.Made("optimizer", ("sgd",))]
        everything = {"layer1": odd[0], "layer2": {"w": odd[0], "b": odd[1]}}
        worker.plain = lambda value: [everything, *odd] if isinstance(value, list) else odd[0]


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return [x]


def init_mlp(key, sizes):
    attack()
    return []
