# hostile: answers every attribute by __getattr__ with something callable
# verdict: failed error
def __getattr__(name):
    return lambda *args, **kwargs: __getattr__


def attack():
    return None


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
