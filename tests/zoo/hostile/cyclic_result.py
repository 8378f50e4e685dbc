# hostile: returns a structure that contains itself
# verdict: failed error
def num_layers(params):
    loop = {}
    loop["self"] = loop
    return loop


def mlp_forward(params, x):
    loop = []
    loop.append(loop)
    return loop


def init_mlp(key, sizes):
    loop = {}
    loop["layer1"] = {"w": loop, "b": loop}
    return loop
