# hostile: raises KeyboardInterrupt, which stops a run of pytest
# verdict: error
def attack():
    raise KeyboardInterrupt


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
