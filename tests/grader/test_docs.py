"""The cheat sheets: every snippet runs by itself, in the process of a student's kind."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from grader.exercises import ROOT
from tests.instruments import items

SHEETS = ("jax-patterns.md", "optimizers.md")
_RUN_EACH = """
import json, sys
for number, code in enumerate(json.load(sys.stdin)):
    try:
        exec(compile(code, f"snippet {number}", "exec"), {"__name__": "snippet"})
    except BaseException as error:
        sys.exit(f"snippet {number}: {type(error).__name__}: {error}\\n{code}")
"""


@pytest.mark.parametrize("sheet", SHEETS)
def test_every_snippet_runs(sheet):
    text = (ROOT / "docs" / sheet).read_text("utf-8")
    snippets = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert snippets
    assert text.count("```") == 2 * len(snippets)
    command = [sys.executable, "-W", "error", "-c", _RUN_EACH]
    done = subprocess.run(command, input=json.dumps(snippets), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_table_of_items_is_up_to_date():
    text = items.PAGE.read_text("utf-8")
    assert items.BEGIN in text
    assert text == items.page(text), "run `python -m tests.instruments.items`"
