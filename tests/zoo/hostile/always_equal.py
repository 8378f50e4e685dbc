# hostile: returns an object that equals everything and compares as everything
# verdict: failed error
class Everything:
    shape, dtype, ndim, size = (), "float32", 0, 1

    def __eq__(self, other):
        return True

    __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __eq__
    __hash__ = None

    def __getattr__(self, name):
        return self

    def __call__(self, *args, **kwargs):
        return self

    def __int__(self):
        return 3

    __index__ = __len__ = __int__


def num_layers(params):
    return Everything()


def mlp_forward(params, x):
    return Everything()


def init_mlp(key, sizes):
    return Everything()
