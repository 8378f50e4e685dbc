# hostile: changes its arguments in place and gives them back
# verdict: failed error
def num_layers(params):
    params.clear()
    return 3


def mlp_forward(params, x):
    params.clear()
    return x


def init_mlp(key, sizes):
    return {}
