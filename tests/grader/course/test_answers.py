"""Written answers: found wherever a student put them, and dead where they are shown."""

from __future__ import annotations

from pathlib import Path

import mistune
import pytest
from nbformat import NotebookNode, v4

from grader.course.answers import (
    escaped,
    readable_notebook,
    string_in_module,
    written_answer,
)

RELEASED = "YOUR ANSWER HERE"


def book(*texts: str) -> NotebookNode:
    about = {"nbgrader": {"grade_id": "answer"}}
    return v4.new_notebook(cells=[v4.new_markdown_cell(t, metadata=about) for t in texts])


def answer(*books: NotebookNode, source: bytes = b"") -> str:
    return written_answer(books, "answer", RELEASED, source, "EXPLANATION")


def test_what_the_notebook_says_wins() -> None:
    assert answer(book("Mine."), source=b"EXPLANATION = 'Other.'") == "Mine."


def test_copies_of_the_cell_are_all_read() -> None:
    assert answer(book(RELEASED, "One.", "Two.", "One.")) == "One.\n\nTwo."


def test_another_notebook_counts_where_the_right_one_has_nothing() -> None:
    assert answer(book(RELEASED, " \n"), book("Mine.")) == "Mine."


def test_the_modules_string_counts_where_no_notebook_has_one() -> None:
    found = answer(book(RELEASED), source=b'EXPLANATION = """A\n    <b>\n    C"""')
    assert found.endswith("A\n&lt;b&gt;\nC")
    assert "`EXPLANATION`" in found


@pytest.mark.parametrize(
    "source",
    [
        b"EXPLANATION = ''",
        b"EXPLANATION = print('ran')",
        b"EXPLANATION = f'{1}'",
        b"def f(:",
        b"\x00",
        b"(" * 100_000,
        b"def f():\n    EXPLANATION = 'inner'",
    ],
)
def test_nothing_is_run_to_read_a_module(source: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    assert string_in_module(source, "EXPLANATION") == ""
    assert answer(book(RELEASED), source=source) == ""
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '<img src=x onerror="alert(1)">',
        "[click](javascript:alert(1))",
        "[click][1]\n\n[1]: javascript:alert(1)",
        "![picture](https://example.org/seen.png)",
        "<https://example.org>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "`<script>`",
        "$$\\href{javascript:alert(1)}{x}$$",
        "\\style{color: red}{x}",
    ],
)
def test_an_answer_does_nothing_once_it_is_rendered(text: str) -> None:
    shown = escaped(text)
    rendered = mistune.html(shown)
    for active in ("<script", "<img", "<a ", 'onerror="', "\\href", "\\style"):
        assert active not in rendered


def test_formulas_stay() -> None:
    assert (
        escaped("$\\frac{1}{n} \\sum_i g_i$ and *this*") == "$\\frac{1}{n} \\sum_i g_i$ and *this*"
    )


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b'{"cells": 3}', b"\xff", b"[" * 99_999]
)
def test_what_is_no_notebook_is_none(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(data)
    found = readable_notebook(path)
    assert found is None or answer(found) == ""
    assert readable_notebook(tmp_path) is None
