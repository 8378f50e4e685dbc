"""A stub's docstring as Markdown."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

_TERM = re.compile(r"`+[^`]+`+")
_ROW = re.compile(r"(?P<name>\w+) {3,}(?P<text>\S.*)")


def markdown(docstring: str) -> str:
    """The statement of an exercise; the first line becomes a heading.

    A term alone on its line with an indented block below is how the stubs describe a function; left
    as it is, Markdown would take the block for code.
    """
    first, _, rest = docstring.strip().partition("\n")
    blocks = [f"# {first.rstrip('.')}", *_blocks(rest.splitlines())]
    return re.sub(r"``([^`]+)``", r"`\1`", "\n\n".join(block for block in blocks if block))


def definition(docstring: str, term: str) -> str:
    """What the docstring says of `term`; empty if nothing."""
    lines = docstring.splitlines()
    for number, line in enumerate(lines):
        if line.strip("`") == term and _TERM.fullmatch(line):
            return "\n".join(_indented(lines[number + 1 :]))
    return ""


def _blocks(lines: list[str]) -> Iterator[str]:
    plain: list[str] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        body = _indented(lines[number + 1 :]) if _TERM.fullmatch(line) else []
        if body:
            yield "\n".join(plain).strip("\n")
            plain = []
            yield f"**{line}**"
            yield _rows("\n".join(body))
            number += len(body)
        else:
            plain.append(line)
        number += 1
    yield "\n".join(plain).strip("\n")


def _indented(lines: list[str]) -> list[str]:
    """The indented lines that these begin with, without their indent."""
    body: list[str] = []
    for line in lines:
        if line and not line.startswith("    "):
            break
        body.append(line)
    while body and not body[-1]:
        body.pop()
    return textwrap.dedent("\n".join(body)).split("\n") if body else []


def _rows(text: str) -> str:
    """Makes lines of a name, a gap and a text a list."""
    shown = []
    for line in text.split("\n"):
        if found := _ROW.fullmatch(line):
            shown.append(f"- `{found['name']}`: {found['text']}")
        elif line.startswith("   "):
            shown.append(f"  {line.strip()}")
        else:
            shown.append(line)
    return "\n".join(shown)
