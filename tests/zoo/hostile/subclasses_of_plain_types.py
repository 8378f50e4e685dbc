# hostile: returns subclasses of int, float, str, dict and tuple that lie
# verdict: failed error
class Number(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


class Mapping(dict):
    def __getitem__(self, name):
        return self

    def keys(self):
        return {"layer1", "layer2", "layer3"}


class Tuple(tuple):
    _fields = ("w", "b", "__class__", "values")


def num_layers(params):
    return Number(3)


def mlp_forward(params, x):
    return Tuple((x, x, x, x))


def init_mlp(key, sizes):
    return Mapping(layer1=Mapping(w=1))
