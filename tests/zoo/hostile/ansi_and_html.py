# hostile: raises an exception whose text is terminal codes, HTML and right-to-left marks
# verdict: error
CODES = (
    "\x1b[2J\x1b]0;all passed\x07\x9b31m\r\b\b<script>alert(1)</script><img src=x onerror=alert(1)>"
    " \u202e\u2066dessap\u2069 \x00\x7f 20 / 20 passed"
)


def attack():
    print(CODES, flush=True)
    raise ValueError(CODES)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
