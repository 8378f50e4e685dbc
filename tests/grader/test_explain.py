"""Exceptions in the lesson's words: the idea first, and where to read on."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grader.explain import _MEANINGS, explain
from grader.student import Frame, StudentRaised


def told(type_name: str, text: str = "", bases: tuple[str, ...] = (), own: bool = True) -> str:
    return explain(type_name, text, bases, "dropout", own)


@pytest.mark.parametrize("name", _MEANINGS)
def test_errors_of_jax_name_the_page_to_read(name):
    message = told(name, "Attempted boolean conversion of traced array with shape bool[].\nThe ...")
    assert message.startswith(f"dropout raised {name}: ")
    assert name in message.rpartition("JAX Errors")[2]
    assert "traced array with shape" not in message


def test_the_translated_errors_are_ones_that_jax_has():
    code = (
        "import sys, jax.errors, jax._src.errors as e;"
        "sys.exit(str([n for n in sys.argv[1:] if not hasattr(e, n)] or ''))"
    )
    done = subprocess.run([sys.executable, "-c", code, *_MEANINGS], capture_output=True, text=True)
    assert done.stderr.strip() == ""


def test_a_subclass_is_explained_by_its_base():
    assert "Python `if`" in told("MyError", bases=("MyError", "TracerBoolConversionError"))


def test_a_name_that_is_missing_in_the_students_module_is_told_from_one_in_a_library():
    missing = "module 'dropout' has no attribute 'dropout'"
    assert "There is no dropout in the module" in told("AttributeError", missing, own=False)
    other = "module 'jax.numpy' has no attribute 'droput'"
    assert "There is no" not in told("AttributeError", other)


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("NotImplementedError", "dropout is not written yet", "dropout is not written yet."),
        ("NotImplementedError", "", "dropout is not written yet."),
        ("SyntaxError", "invalid syntax (dropout.py, line 3)", "not valid Python: invalid syntax"),
        ("SystemExit", "0", "exit()"),
        ("TypeError", "dropout() takes 2 positional arguments but 3 were given", "signature"),
        ("ValueError", "one\ntwo", "dropout raised ValueError: one"),
        ("ValueError", "", "dropout raised ValueError."),
    ],
)
def test_common_errors_say_what_to_look_at(name, text, part):
    assert part in told(name, text)


def test_a_long_text_is_cut():
    assert len(told("ValueError", "x" * 10_000)) < 400


def test_the_detail_is_the_traceback_in_the_students_file():
    frames = [Frame("dropout.py", 7, "dropout", "return 1 / 0")]
    error = StudentRaised("ZeroDivisionError", "division by zero", frames, (), "dropout")
    assert error.detail.splitlines() == [
        "  dropout.py, line 7, in dropout: return 1 / 0",
        "ZeroDivisionError: division by zero",
    ]
