# hostile: returns containers that never end when they are walked
# verdict: failed error timeout crashed
class Endless(list):
    def __iter__(self):
        while True:
            yield 0


class EndlessDict(dict):
    def items(self):
        while True:
            yield "layer1", 0

    keys = values = __iter__ = items


def num_layers(params):
    return Endless()


def mlp_forward(params, x):
    return Endless()


def init_mlp(key, sizes):
    return EndlessDict()
