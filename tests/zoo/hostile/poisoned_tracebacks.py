# hostile: poisons linecache, traceback and the exception itself
# verdict: failed error crashed timeout
import linecache
import os
import sys
import traceback


class Liar(type):
    @property
    def __name__(cls):
        raise MemoryError

    @property
    def __mro__(cls):
        raise MemoryError


class Hostile(Exception, metaclass=Liar):
    def __str__(self):
        raise SystemExit

    __repr__ = __str__

    @property
    def __traceback__(self):
        raise KeyboardInterrupt


def attack():
    linecache.getline = lambda *args: "\x1b[31m" * 1000
    linecache.cache.clear()
    traceback.walk_tb = lambda tb: iter([(sys._getframe(), -5)] * 10_000)
    os.path.realpath = lambda path, **kwargs: "/etc/passwd"
    raise Hostile


def num_layers(params):
    attack()
    return 3


def mlp_forward(params, x):
    attack()
    return x


def init_mlp(key, sizes):
    attack()
    return {}
