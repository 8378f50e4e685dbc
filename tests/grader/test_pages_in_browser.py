"""The report's page in a real browser: readable, accessible, and deaf to what a student wrote."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from grader.pictures import Picture
from grader.report import charts, html
from tests.grader.browser import chromium
from tests.grader.test_report import EXERCISES, item, report

pytestmark = pytest.mark.slow

EVIL = "<script>document.title = 'forged'</script><img src=x onerror=\"document.title='forged'\">"


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    figure = charts.figure()
    axes = charts.plain(figure.subplots())
    axes.plot([1, 2, 3], [3, 1, 2], color=charts.FIRST, label="without")
    axes.plot([1, 2, 3], [1, 2, 3], color=charts.SECOND, label="with")
    axes.set(xlabel="step", ylabel="norm")
    axes.legend(labelcolor=charts.INK)
    lines = "\n".join(f"    {EVIL} {'x' * 200}" for _ in range(9)).encode()
    page = html.page(
        report(
            item("a"),
            item("b", "failed", message=EVIL, detail=f"  dropout.py, line 4, in f: {EVIL}"),
            item("c", "crashed", hidden=True),
            item("d", "ungraded"),
            item("e", "timeout", message="שלום, too slow"),
        ),
        EXERCISES,
        student=f"{EVIL} שלום",
        hints={("dropout", "b"): "Think."},
        pictures={"dropout": Picture(charts.svg(figure, "Norms", "They fall."), "They fall.")},
        sources={"dropout": lines},
        answers={"dropout": html.Answer("Why?", None, 4.0, EVIL)},
    )
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page, "utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_no_violation_and_nothing_overflows(browser, address, scheme, width):
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto(address)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_what_a_student_wrote_is_text_and_nothing_more(browser, address):
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    assert "forged" not in page.title().replace(EVIL, "")
    assert page.locator("script, img").count() == 0
    assert page.get_by_text("document.title").count() > 0
    assert asked == [address]
    page.close()


def test_the_picture_has_words(browser, address):
    page = browser.new_page()
    page.goto(address)
    assert page.get_by_role("img", name="Norms").count() == 1
    page.close()
