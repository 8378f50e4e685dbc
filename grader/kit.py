"""Makes the students' stubs from the solutions, which are the only source.

In a solution, a line `### BEGIN SOLUTION` and a line `### END SOLUTION` enclose what a student
writes. The stub has instead

- inside a function: `raise NotImplementedError("FUNCTION is not written yet")`;
- at the top of the module, where the region gives one name a text: `NAME = ""`;
- anywhere else: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from grader.report.model import write_atomically

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"


def stub_source(solution_source: str) -> str:
    """The stub of a solution, both as Python source.

    Raises:
      ValueError: the regions are not balanced, there is none, or the source (or what is left of
        it) is not Python; the message gives the line.
    """
    lines = solution_source.splitlines()
    regions = _regions(lines)
    if not regions:
        raise ValueError(f"no line reads {BEGIN}: nothing is left for the student")
    tree = _parse(solution_source)
    stub: list[str] = []
    position = 0
    for begin, end in regions:
        stub += lines[position:begin]
        indent = lines[begin][: lines[begin].index("#")]
        replacement = _replacement(tree, begin + 1, end + 1)
        position = end + 1
        if replacement is not None:
            if len(stub) > 1 and not stub[-1] and stub[-2].endswith('"""'):
                stub.pop()  # the formatter parts a docstring from a def, not from a statement
            stub.append(indent + replacement)
        else:
            while position < len(lines) and not lines[position] and (not stub or not stub[-1]):
                position += 1
    stub += lines[position:]
    source = "\n".join(stub).rstrip("\n") + "\n"
    _parse(source)
    return source


def write_stubs(root: Path) -> list[Path]:
    """Write the stub of each solution below root; returns those that changed.

    What a student wrote there is lost. A reader meanwhile sees the old file or the whole new one.

    Raises:
      ValueError: a solution has no stub; the message names its file.
    """
    stubs = dict(_stubs(root))  # all of them before the first is written
    changed = [path for path, source in stubs.items() if not _holds(path, source)]
    for path in changed:
        write_atomically(path, stubs[path].encode())
    return changed


def stub_drift(root: Path) -> list[str]:
    """The stubs below root, as `exercises/NAME.py`, that are not what their solutions generate."""
    return [f"exercises/{path.name}" for path, source in _stubs(root) if not _holds(path, source)]


def _regions(lines: list[str]) -> list[tuple[int, int]]:
    """Indices of each BEGIN line and its END line."""
    regions = []
    begin = None
    for index, line in enumerate(lines):
        if line.strip() == BEGIN:
            if begin is not None:
                raise ValueError(f"line {index + 1}: {BEGIN} inside a region")
            begin = index
        elif line.strip() == END:
            if begin is None:
                raise ValueError(f"line {index + 1}: {END} without {BEGIN}")
            regions.append((begin, index))
            begin = None
    if begin is not None:
        raise ValueError(f"line {begin + 1}: {BEGIN} without {END}")
    return regions


def _replacement(tree: ast.Module, begin: int, end: int) -> str | None:
    """What stands in the stub for the region between two line numbers; None: nothing."""
    inside = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and begin < node.lineno and (node.end_lineno or 0) < end
    ]
    if not inside:
        raise ValueError(f"line {begin}: the region holds no statement")
    first = min(inside, key=lambda node: (node.lineno, node.col_offset))
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node.lineno < begin
        and first.lineno <= (node.end_lineno or 0)
    ]
    if functions:
        innermost = max(functions, key=lambda node: node.lineno)
        return f'raise NotImplementedError("{innermost.name} is not written yet")'
    match first:
        case ast.Assign(targets=[ast.Name(name)], value=ast.Constant(str())):
            return f'{name} = ""'
    return None


def _parse(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno}: {error.msg}") from error


def _stubs(root: Path) -> Iterator[tuple[Path, str]]:
    """The path and the source of each stub; none in the students' kit, which has no solutions."""
    for solution in sorted((root / "solutions").glob("*.py")):
        try:
            yield (
                root / "exercises" / solution.name,
                stub_source(solution.read_text(encoding="utf-8")),
            )
        except ValueError as error:
            raise ValueError(f"solutions/{solution.name}: {error}") from error


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()
