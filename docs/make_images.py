"""Make the pictures of the README anew: `python docs/make_images.py`.

What they show is real: a submission with one mistake is graded, and its report is drawn.
"""

import io
import re
import tempfile
from pathlib import Path

from rich.console import CONSOLE_SVG_FORMAT, Console

from grader import exercises as course
from grader.grading import Grader
from grader.report import terminal

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"

# A picture must not fetch anything: without these a viewer uses its own fixed-width font.
SVG_FORMAT = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def grade_picture() -> str:
    """`make grade X=dropout` on a module whose survivors are not scaled, as SVG."""
    right = (ROOT / "solutions" / "dropout.py").read_text(encoding="utf-8")
    wrong = right.replace("x / (1 - rate), jnp", "x, jnp")
    assert wrong != right
    with tempfile.TemporaryDirectory() as folder, Grader() as grader:
        Path(folder, "dropout.py").write_text(wrong, encoding="utf-8")
        report = grader.grade(Path(folder), exercises=["dropout"])
    hints = {(test.exercise, test.name): test.item.hint for test in course.graded_tests("dropout")}
    console = Console(record=True, width=92, force_terminal=True, file=io.StringIO())
    console.print("$ make grade X=dropout", style="bold", highlight=False)
    terminal.show(report, course.catalogue(), hints, console)
    return console.export_svg(title="jaxlings", code_format=SVG_FORMAT, unique_id="grade")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "grade.svg").write_text(grade_picture(), encoding="utf-8")
