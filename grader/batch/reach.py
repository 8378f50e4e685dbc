"""Modules that reach for what exercises have no use for: a person should read them.

What only a submission's own process can observe can be faked there (SECURITY.md). Whoever does that
names something of the list below. It is a remark, never a verdict.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

_REACHES = frozenset(
    (
        *("grader", "ctypes", "sys.modules", "_getframe", "_current_frames"),
        *("__closure__", "cell_contents", "__subclasses__", "f_locals", "f_back"),
        *("settrace", "setprofile", "addaudithook", "meta_path"),
    )
)


def remarks(modules: Mapping[str, bytes]) -> list[str]:
    """A line for each module that names such things."""
    found = {name: sorted(_REACHES & set(_named(source))) for name, source in modules.items()}
    return [
        f"{name}.py reaches for {', '.join(what)}: read it" for name, what in found.items() if what
    ]


def _named(source: bytes) -> Iterator[str]:
    """The names in a module's code; nothing where it is not valid Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module)):
                yield module.partition(".")[0]
                yield from (f"{module}.{alias.name}" for alias in node.names)
            case ast.Attribute(value=ast.Name(id=owner), attr=attribute):
                yield attribute
                yield f"{owner}.{attribute}"
            case ast.Attribute(attr=name) | ast.Name(id=name):
                yield name
            case ast.Constant(value=str(text)):  # getattr, import_module
                yield text.partition(".")[0]
