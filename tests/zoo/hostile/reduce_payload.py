# hostile: returns an object that runs code where it is unpickled
# verdict: failed error
# layers: each
import os


class Payload:
    def __reduce__(self):
        return (os.system, ("touch /tmp/jaxlings-unpickled",))


def num_layers(params):
    return Payload()


def mlp_forward(params, x):
    return Payload()


def init_mlp(key, sizes):
    return {"layer1": {"w": Payload(), "b": Payload()}}
