# hostile: raises groups, cycles, exceptions of a changed class and huge texts
# verdict: failed error crashed
import itertools


class Long(Exception):
    def __str__(self):
        return "\x1b]0;owned\x07<script>alert(1)</script>\u202e\ud800" * 1_000_000


def raisers():
    first, second = Exception("a"), Exception("b")
    first.__cause__, second.__cause__ = second, first
    yield ExceptionGroup("group", [first, ExceptionGroup("inner", [second])])
    yield first
    yield Long()
    yield GeneratorExit()
    yield StopIteration(Long())
    yield SyntaxError("text", ("generic_mlp.py", 2**31, -1, "x" * 10**6))
    yield SyntaxError("text", (object(), "no number", None, None))
    yield UnicodeDecodeError("utf-8", b"\xff" * 1000, 0, 1, "x" * 10**6)
    yield type("A" * 100_000, (Exception,), {})("name")
    yield type("\x1b[2J\n<b>", (Exception,), {})("name")


NEXT = itertools.cycle(raisers())


def attack():
    raise next(NEXT)


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
