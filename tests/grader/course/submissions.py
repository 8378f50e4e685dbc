"""Submissions as a class hands them in: right, wrong, hostile and odd ones."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.grader.conftest import SOLUTION
from tests.grader.course.conftest import SHIFTING

CANARY = "document.title='forged'"
SCRIPT = f'<script>{CANARY}</script><img src="x" onerror="{CANARY}">'
ANSWER = "It adds, and $a+b \\neq ab$."
WRONG = SOLUTION.replace("x * factor", "x + factor")
ENDLESS = SOLUTION.replace("return x * factor", "while True:\n        pass")
EXITING = SOLUTION + "\nimport os\n\nos._exit(0)\n"
SHOUTING = SOLUTION.replace("return x * factor", f"raise ValueError({SCRIPT!r})")
NO_PYTHON = "def scale(:\n"

Files = dict[str, bytes]
Book = dict[str, Any]


def class_of(release: Path) -> dict[str, Files]:
    """What everybody handed in, by student, a dict of files each."""
    plain = {
        path.name: path.read_bytes() for path in release.iterdir() if path.name != "mnist_mlp.py"
    }
    right = plain | {"scaling.py": SOLUTION.encode(), "shifting.py": SHIFTING.encode()}

    def changed(name: str, change: Callable[[Book], None]) -> Files:
        book = json.loads(right[name])
        change(book)
        return right | {name: json.dumps(book).encode()}

    def scaling(source: str) -> Files:
        return right | {"scaling.py": source.encode()}

    everybody = {f"right{number}": right for number in range(6)}
    everybody |= {f"wrong{number}": scaling(WRONG) for number in range(3)}
    everybody |= {
        "endless": scaling(ENDLESS),
        "exiting": scaling(EXITING),
        "shouting": scaling(SHOUTING),
        "no_python": scaling(NO_PYTHON),
        "stub": plain,
        "answering": changed("shifting.ipynb", _answer(ANSWER)),
        "injecting": changed("shifting.ipynb", _answer(f"Look: {SCRIPT}")),
        "injecting_cell": changed("scaling.ipynb", _foreign_cell),
        "duplicate_cell": changed(
            "scaling.ipynb", lambda book: book["cells"].append(book["cells"][-1])
        ),
        "deleted_cell": changed("scaling.ipynb", lambda book: book["cells"].pop()),
        "forged_outputs": changed("scaling.ipynb", _forge) | {"scaling.py": WRONG.encode()},
        "forged_points": changed("scaling.ipynb", _more_points) | {"scaling.py": WRONG.encode()},
        "old_schema": changed("scaling.ipynb", _old_schema),
        "old_format": changed("scaling.ipynb", _old_format),
        "corrupt": right | {"scaling.ipynb": b'{"cells": [', "shifting.ipynb": b""},
        "kernel": changed("scaling.ipynb", _kernel),
        "odd_metadata": changed("scaling.ipynb", _odd_metadata),
        "renamed": _renamed(changed("shifting.ipynb", _answer(ANSWER))),
        "missing": {name: data for name, data in right.items() if name != "scaling.ipynb"},
        "extra": right | {"mine.ipynb": right["scaling.ipynb"], "notes.txt": b"hello"},
        "only_py": {name: data for name, data in right.items() if name.endswith(".py")},
        "nested": {f"homework/exercises/{name}": data for name, data in right.items()},
        "numpy": right | {"numpy.py": b"raise SystemExit\n", "jax.py": b"raise SystemExit\n"},
        "module_missing": {name: data for name, data in right.items() if name != "scaling.py"},
        "huge": scaling(SOLUTION + "#" * (1 << 20)),
        "nothing": {"notes.txt": b"I was ill."},
    }
    return everybody


def write_archive(everybody: dict[str, Files], archive: Path) -> None:
    """The download of an LMS: a zip a student, one of them broken, and files by other names."""
    archive.mkdir(parents=True)
    for student, files in everybody.items():
        (archive / f"{student}.zip").write_bytes(_zip(files))
    (archive / "bad_zip.zip").write_bytes(b"PK\x03\x04 and no more")
    right = everybody["right0"]
    for name in ("scaling.py", "shifting.py", "shifting.ipynb"):
        (archive / f"doejane_4711_99_{name}").write_bytes(right[name])
        (archive / f"Homework 1_jdoe_attempt_2026-11-03-10-30-00_{name}").write_bytes(right[name])
    moodle = archive / "Zoë Ångström_815_assignsubmission_file_"
    moodle.mkdir()
    for name, data in right.items():
        (moodle / name).write_bytes(data)


def _zip(files: Files) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def _cell(book: Book, grade_id: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        cell
        for cell in book["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id
    )
    return found


def _answer(text: str) -> Callable[[Book], None]:
    def write(book: Book) -> None:
        _cell(book, "answer-EXPLANATION")["source"] = text

    return write


def _foreign_cell(book: Book) -> None:
    book["cells"].insert(
        0, {"cell_type": "markdown", "id": "mine", "metadata": {}, "source": SCRIPT}
    )


def _forge(book: Book) -> None:
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = "10.0"
            cell["outputs"] = [
                {
                    "output_type": "execute_result",
                    "execution_count": 1,
                    "metadata": {},
                    "data": {"text/plain": "10.0"},
                }
            ]


def _more_points(book: Book) -> None:
    for cell in book["cells"]:
        if "points" in cell["metadata"].get("nbgrader", {}):
            cell["metadata"]["nbgrader"]["points"] = 1000


def _old_schema(book: Book) -> None:
    for cell in book["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["schema_version"] = 1


def _old_format(book: Book) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "old"},
        {
            "cell_type": "code",
            "metadata": {},
            "input": "1",
            "outputs": [],
            "language": "python",
            "collapsed": False,
        },
    ]
    book.clear()
    book |= {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [{"cells": cells, "metadata": {}}],
    }


def _kernel(book: Book) -> None:
    book["metadata"]["kernelspec"] = {"name": "evil", "display_name": "Evil", "language": "bash"}


def _odd_metadata(book: Book) -> None:
    for cell in book["cells"]:
        cell["metadata"]["nbgrader"] = "yes"


def _renamed(files: Files) -> Files:
    return {
        name.replace("shifting.ipynb", "Homework final(2).ipynb"): data
        for name, data in files.items()
    }
