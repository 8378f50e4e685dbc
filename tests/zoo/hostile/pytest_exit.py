# hostile: raises pytest's own outcomes: skip, exit, xfail
# verdict: error
def attack():
    import pytest

    for raised in (pytest.skip, pytest.xfail, pytest.exit):
        try:
            raised("all passed")
        except BaseException as error:
            last = error
    raise last


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
