"""formgrader in a real browser, on a real JupyterLab server that runs in the course.

With JAXLINGS_SCREENSHOTS=docs/images the pictures of the manual are taken anew.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, Page, expect

from tests.grader.browser import chromium
from tests.grader.conftest import Kit
from tests.grader.course.conftest import Course
from tests.grader.course.submissions import CANARY, class_of

pytestmark = pytest.mark.slow

PATIENCE = 180_000  # milliseconds: a busy machine


@pytest.fixture(scope="module")
def course(course_kit: Kit, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course with three submissions; `wrong0` is graded, the others wait for the button."""
    course = Course(course_kit, tmp_path_factory.mktemp("course"))
    course.nbgrader("generate_assignment", "jax")
    everybody = class_of(course.root / "release" / "jax")
    for student in ("answering", "injecting", "wrong0"):
        folder = course.root / "submitted" / student / "jax"
        folder.mkdir(parents=True)
        for name, data in everybody[student].items():
            (folder / name).write_bytes(data)
    course.nbgrader("autograde", "jax", "--student", "wrong0")
    return course


@pytest.fixture(scope="module")
def server(course: Course) -> Iterator[str]:
    """The address of formgrader."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    log = course.root / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
                *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
                *("--IdentityProvider.token=", "--ServerApp.password="),
            ],
            cwd=course.root,
            env={**os.environ, "PYTHONPATH": str(course.kit.root)},
            stdout=output,
            stderr=output,
        )
    try:
        for _ in range(180):
            try:
                urllib.request.urlopen(f"{address}/api", timeout=5).close()
                break
            except OSError:
                time.sleep(1)
        else:
            pytest.fail(log.read_text())
        yield f"{address}/formgrader"
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1100, "height": 800})
    page.set_default_timeout(PATIENCE)
    # Nothing but the server is asked; the formulas' program would come from elsewhere.
    page.route(re.compile(r"https?://(?!127\.0\.0\.1)"), lambda route: route.abort())
    yield page
    page.close()


def take(page: Page, name: str, tmp_path: Path) -> None:
    folder = Path(os.environ.get("JAXLINGS_SCREENSHOTS") or tmp_path)
    page.screenshot(path=folder / f"course-{name}.png")


def grade_of(course: Course, student: str, cell: str, notebook: str) -> float | None:
    with Gradebook(f"sqlite:///{course.root}/gradebook.db?timeout=60") as gradebook:
        grade = gradebook.find_grade(cell, notebook, "jax", student)
        score = grade.auto_score if grade.manual_score is None else grade.manual_score
        return None if score is None else float(score)


def submission_of(course: Course, student: str) -> str:
    with Gradebook(f"sqlite:///{course.root}/gradebook.db?timeout=60") as gradebook:
        return str(gradebook.find_submission_notebook("shifting", "jax", student).id)


def test_the_assignment_and_its_submissions_are_listed(
    page: Page, server: str, tmp_path: Path
) -> None:
    page.goto(f"{server}/manage_assignments")
    expect(page.locator("td.name")).to_have_text("jax", timeout=PATIENCE)
    expect(page.locator("td.num-submissions")).to_have_text("3")
    take(page, "assignments", tmp_path)


def test_the_autograde_button_grades(
    page: Page, server: str, course: Course, tmp_path: Path
) -> None:
    page.goto(f"{server}/manage_submissions/jax")
    for student in ("answering", "injecting"):
        row = page.locator("tr", has_text=student)
        row.locator("td.autograde a").click()
        modal = page.get_by_text(f"Successfully autograded 'jax' for student '{student}'")
        expect(modal).to_be_visible(timeout=PATIENCE)
        page.locator(".modal.in button", has_text="OK").first.click()
        expect(page.locator(".modal-backdrop")).to_have_count(0, timeout=PATIENCE)
    assert grade_of(course, "answering", "hidden-01", "scaling") == 10.0
    take(page, "submissions", tmp_path)


def test_the_written_answer_is_read_and_marked(
    page: Page, server: str, course: Course, tmp_path: Path
) -> None:
    page.goto(f"{server}/submissions/{submission_of(course, 'answering')}/")
    expect(page.get_by_text("It adds, and")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("✓ passed").first).to_be_visible()
    score = page.locator("#answer-EXPLANATION")
    expect(score).to_be_enabled(timeout=PATIENCE)
    score.fill("3.5")
    page.locator("#answer-EXPLANATION-comment").fill("Nearly: say what a factor does.")
    score.focus()
    page.wait_for_timeout(1000)
    score.blur()
    deadline = time.monotonic() + 60
    while grade_of(course, "answering", "answer-EXPLANATION", "shifting") != 3.5:
        assert time.monotonic() < deadline
        page.wait_for_timeout(500)
    score.scroll_into_view_if_needed()
    take(page, "answer", tmp_path)


def test_nothing_that_a_student_wrote_runs_in_formgrader(
    page: Page, server: str, course: Course
) -> None:
    page.goto(f"{server}/submissions/{submission_of(course, 'injecting')}/")
    expect(page.get_by_text(CANARY).first).to_be_visible(timeout=PATIENCE)
    page.wait_for_timeout(1000)
    assert page.title() != "forged"
    assert page.locator("img[src=x]").count() == 0


def test_nothing_that_a_student_wrote_runs_in_feedback(
    page: Page, course: Course, tmp_path: Path
) -> None:
    course.nbgrader("generate_feedback", "jax", "--force")
    for student in ("injecting", "answering", "wrong0"):
        for name in ("shifting", "scaling"):
            path = course.root / "feedback" / student / "jax" / f"{name}.html"
            page.goto(path.as_uri())
            assert page.title() != "forged"
            assert page.locator("script, img").count() == 0
    take(page, "feedback", tmp_path)
