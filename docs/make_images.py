"""Make the pictures of the README anew: `python docs/make_images.py`.

What they show is real: submissions with a mistake are graded, and their reports drawn, on a
terminal and by Chromium at the widths of a desk and of a phone.
"""

import io
import re
import sys
import tempfile
from pathlib import Path

from rich.console import CONSOLE_SVG_FORMAT, Console

from grader import exercises as course
from grader.grading import Grader
from grader.ingest import Submission, ingest
from grader.pages import student_page
from grader.report import terminal

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.grader.browser import chromium  # noqa: E402

IMAGES = ROOT / "docs" / "images"

# A picture must not fetch anything: without these a viewer uses its own fixed-width font.
SVG_FORMAT = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


SCREENS = {  # width, height, color scheme
    "report-desk": (1100, 1250, "light"),
    "report-phone": (390, 844, "dark"),
}


def unscaled() -> bytes:
    """A `dropout.py` whose survivors are not scaled."""
    right = (ROOT / "solutions" / "dropout.py").read_text(encoding="utf-8")
    wrong = right.replace("x / (1 - rate), jnp", "x, jnp")
    assert wrong != right
    return wrong.encode()


def grade_picture(grader: Grader) -> str:
    """`make grade X=dropout` on that module, as SVG."""
    submission = Submission("images", {"dropout": unscaled()})
    report = grader.grade(submission, exercises=["dropout"])
    hints = {(test.exercise, test.name): test.item.hint for test in course.graded_tests("dropout")}
    console = Console(record=True, width=92, force_terminal=True, file=io.StringIO())
    console.print("$ make grade X=dropout", style="bold", highlight=False)
    terminal.show(report, course.catalogue(), hints, console)
    return console.export_svg(title="jaxlings", code_format=SVG_FORMAT, unique_id="grade")


def report_page(grader: Grader) -> str:
    """`make report` on all the solutions, but for that module."""
    solutions = ingest(ROOT / "solutions", list(course.catalogue()))
    submission = Submission("exercises", {**solutions.modules, "dropout": unscaled()})
    return student_page(grader.grade(submission), submission, grader)


def take_screenshots(page: str, to: Path) -> None:
    """Shows a page in Chromium at the widths of `SCREENS`."""
    with tempfile.NamedTemporaryFile(suffix=".html") as file, chromium() as browser:
        file.write(page.encode())
        file.flush()
        for name, (width, height, scheme) in SCREENS.items():
            tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            tab.goto(Path(file.name).as_uri())
            tab.screenshot(path=to / f"{name}.png")
            if scheme == "light":
                tab.locator("figure").nth(1).screenshot(path=to / "report-picture.png")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    with Grader() as warm:
        picture, html = grade_picture(warm), report_page(warm)
    (IMAGES / "grade.svg").write_text(picture, encoding="utf-8")
    take_screenshots(html, IMAGES)
