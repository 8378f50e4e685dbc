"""The forms of a report: what a student reads is complete, safe and silent on hidden tests."""

from __future__ import annotations

import io
import re

import msgspec
import pytest
from rich.console import Console

from grader.exercises import Exercise
from grader.pictures import Picture
from grader.report import html, terminal
from grader.report.clean import clean
from grader.report.model import (
    ExerciseResult,
    ItemResult,
    Report,
    from_json,
    to_json,
    write_atomically,
)

EXERCISES = {"dropout": Exercise(1, "Dropout <b>", ("a", "b", "c"), {"EXPLANATION": 4.0})}


def item(name: str, outcome: str = "passed", **changes: object) -> ItemResult:
    fields = {
        "name": name,
        "title": f"title of {name}",
        "hidden": False,
        "points": 2.0 if outcome == "passed" else 0.0,
        "max_points": 2.0,
        "outcome": outcome,
        "message": "" if outcome == "passed" else f"message of {name}",
        "detail": "",
    }
    return ItemResult(**(fields | changes))


def report(*items: ItemResult) -> Report:
    points, most = sum(i.points for i in items), sum(i.max_points for i in items)
    result = ExerciseResult(points=points, max_points=most, seconds=1.0, items=list(items))
    machine = {"jax": "1", "backend": "cpu", "device": "cpu", "python": "3", "sandbox": "none"}
    return Report(
        submission="me",
        points=points,
        max_points=most,
        environment=machine,
        exercises={"dropout": result},
    )


def shown(found: Report, hints: dict | None = None) -> str:
    stream = io.StringIO()
    terminal.show(found, EXERCISES, hints or {}, Console(file=stream, width=80))
    return stream.getvalue()


def page(found: Report, **options: object) -> str:
    return html.page(found, EXERCISES, **options)


def test_json_comes_back_as_it_was_and_nothing_else_is_taken():
    found = report(item("a"), item("b", "failed"))
    assert from_json(to_json(found)) == found
    for bad in (b"", b"{}", b"[1]", to_json(found)[:-20]):
        with pytest.raises(ValueError, match="not a results file"):
            from_json(bad)


def test_a_failing_item_shows_its_message_its_hint_and_where_hints_are():
    text = shown(report(item("a"), item("b", "failed")), {("dropout", "b"): "think"})
    assert re.search(r"✓ title of a +2 / 2", text)
    assert re.search(r"✗ title of b +0 / 2", text)
    assert "message of b" in text
    assert "→ think" in text
    assert "make hint X=dropout" in text


def test_a_message_is_said_once():
    same = {"message": "one cause"}
    text = shown(report(item("a"), item("b", "failed", **same), item("c", "failed", **same)))
    assert text.count("one cause") == 1
    assert "The same as above." in text


def test_one_cause_for_everything_is_one_block():
    same = {"message": "dropout.py is missing"}
    text = shown(
        report(*(item(n, "failed", **same) for n in "abc"), item("h", "failed", hidden=True))
    )
    assert "all 4 items" in text
    assert text.count("dropout.py is missing") == 1


def test_points_that_are_not_counted_are_named():
    text = shown(report(item("a")))
    assert "14 points of hidden tests" in text
    assert "4 points for a written answer" in text


def test_ungraded_is_said_to_be_no_fault_of_the_students():
    text = shown(report(item("a", "ungraded")))
    assert "not graded" in text
    assert "not your code" in text


@pytest.mark.parametrize("make", [shown, page], ids=["terminal", "html"])
def test_hidden_items_show_title_and_outcome_alone(make):
    secret = {"hidden": True, "detail": "  dropout.py, line 3, in f: SECRET", "message": "A hidden"}
    text = make(report(item("a"), item("b", "error", **secret)))
    assert "title of b" in text
    assert "SECRET" not in text


def test_the_page_escapes_what_came_from_the_student():
    evil = '<script>alert(1)</script><img src=x onerror="alert(2)">\u202e'
    found = report(item("b", "error", message=evil, detail=f"  dropout.py, line 1, in f: {evil}"))
    text = page(found, student=evil, sources={"dropout": evil.encode()})
    assert "<script" not in text
    assert "<img" not in text
    assert "\u202e" not in text.split("<main>")[1].split("</h1>")[1]
    assert "&lt;script&gt;" in text


def test_the_page_shows_the_students_own_line_with_its_neighbours():
    source = "\n".join(f"line {n}" for n in range(1, 9)).encode()
    found = report(item("b", "error", detail="  dropout.py, line 4, in f: line 4\nValueError: no"))
    text = page(found, sources={"dropout": source})
    assert "<mark>   4  line 4</mark>" in text
    assert "line 2" in text
    assert "line 7" not in text


def test_pictures_and_answers_have_their_place():
    drawn = {"dropout": Picture("<svg></svg>", "what is seen")}
    answers = {"dropout": html.Answer("Why?", 3.0, 4.0, "Good.")}
    text = page(report(item("a")), pictures=drawn, answers=answers)
    assert "<figure><svg></svg><figcaption>what is seen</figcaption></figure>" in text
    assert "Good." in text
    assert "3 / 4" in text


def test_the_page_needs_no_network_and_no_script():
    text = page(report(item("a"), item("b", "failed")))
    assert "http" not in re.sub(r'http-equiv="[^"]*"', "", text)
    assert "default-src 'none'" in text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("a\rb\x00c\x7f", "a\nbc"),
        ("abc\u202edef\u2066", "abcdef"),
        ("שלום \u200f", "שלום \u200f"),
        ("x" * 1000, "x" * 400),
    ],
)
def test_clean_leaves_letters_of_all_scripts_and_nothing_that_steers(text, left):
    assert clean(text) == left


def test_clean_caps_the_number_of_lines():
    assert clean("a\nb\nc\nd", 2) == "a\nb\n... (2 more lines)"


def test_a_file_is_whole_or_not_there(tmp_path, monkeypatch):
    target = tmp_path / "new" / "file"
    write_atomically(target, b"first")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_atomically(target, b"second")
    assert target.read_bytes() == b"first"
    assert [path.name for path in target.parent.iterdir()] == ["file"]


def test_the_model_takes_no_outcome_of_its_own_making():
    data = msgspec.json.decode(to_json(report(item("a"))))
    data["exercises"]["dropout"]["items"][0]["outcome"] = "splendid"
    with pytest.raises(ValueError, match="not a results file"):
        from_json(msgspec.json.encode(data))
