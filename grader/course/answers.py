"""What a student answered in words: found wherever it was written, and made safe to show."""

from __future__ import annotations

import ast
import html
import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.report.clean import clean

MAX_CHARACTERS = 20_000
NOTEBOOK_BYTES = 32 << 20
# What MathJax would do more with than set a formula.
_ACTIVE_MATH = re.compile(r"\\(?=(?:href|class|style|cssId|require|unicode|data|bbox|html\w*)\b)")


def written_answer(
    notebooks: Sequence[NotebookNode], grade_id: str, released: str, source: bytes, attribute: str
) -> str:
    """The answer as Markdown in which nothing is active; empty if there is none.

    Args:
      notebooks: the submitted one first; the others count where that has no answer, since students
        rename notebooks.
      grade_id: of the answer's cell.
      released: the cell's text when nothing has been written.
      source: the module, whose string `attribute` counts where no notebook has an answer.
    """
    for notebook in notebooks:
        found = list(dict.fromkeys(_texts(notebook, grade_id, released)))
        if found:
            return escaped("\n\n".join(found))
    if text := string_in_module(source, attribute):
        return f"(What follows is the text of `{attribute}` in the module.)\n\n{escaped(text)}"
    return ""


def readable_notebook(path: Path) -> NotebookNode | None:
    """The notebook at `path` in today's format, or None if it is none."""
    try:
        if not path.is_file() or path.stat().st_size > NOTEBOOK_BYTES:
            return None
        return nbformat.read(path, as_version=4)
    except Exception:  # whatever a file that claims to be a notebook can bring about
        return None


def escaped(text: str) -> str:
    """Markdown that shows `text`, formulas included, and does nothing else."""
    text = html.escape(clean(text[:MAX_CHARACTERS]), quote=False)
    text = _ACTIVE_MATH.sub(r"\\ ", text)
    text = text.replace("![", "!\\[")  # a picture from elsewhere would tell who reads it, and when
    return re.sub(r"\]\s*(?=[(\[:])", "]\u200b", text)  # nor does anything become a link


def string_in_module(source: bytes, attribute: str) -> str:
    """The plain string that a module's text assigns to `attribute`; it is read, never run."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    found = ""
    for statement in tree.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text)))
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=str(text)))
            ) if name == attribute:
                found = inspect.cleandoc(text)
    return found


def _texts(notebook: NotebookNode, grade_id: str, released: str) -> Iterator[str]:
    """What the cells of this id say, there being several where a student copied the cell."""
    for cell in notebook.get("cells", ()):
        about = cell.get("metadata", {}).get("nbgrader")
        text = cell.get("source")
        if isinstance(about, dict) and about.get("grade_id") == grade_id and isinstance(text, str):
            if text.strip() and text.strip() != released.strip():
                yield text.strip()
