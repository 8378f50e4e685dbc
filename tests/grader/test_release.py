"""The students' kit holds what they need and nothing that they must not have."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from grader import kit
from grader.exercises import ROOT, names
from grader.release import Leak, leaks, release


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> Path:
    return release(tmp_path_factory.mktemp("release"))[0]


def test_the_kit_holds_stubs_visible_tests_and_the_grader(released):
    for name in names():
        assert (released / "tests" / "visible" / f"test_{name}.py").is_file()
        stub = kit.stub_source((ROOT / "solutions" / f"{name}.py").read_text())
        assert (released / "exercises" / f"{name}.py").read_text() == stub
    for name in ("Makefile", "README.md", "requirements.lock", "grader/cli.py"):
        assert (released / name).is_file()


def test_the_kit_holds_no_solution_no_hidden_test_and_no_zoo(released):
    assert list(leaks(released)) == []
    for name in ("solutions", "tests/hidden", "tests/zoo", "tests/grader", "instructor.mk", ".git"):
        assert not (released / name).exists()


def test_the_zip_holds_the_same_files_below_one_folder(released):
    with zipfile.ZipFile(released.with_suffix(".zip")) as archive:
        packed = {name for name in archive.namelist() if not name.endswith("/")}
    found = {f"jaxlings/{p.relative_to(released)}" for p in released.rglob("*") if p.is_file()}
    assert packed == found


def _solution_lines() -> str:
    text = (ROOT / "solutions" / "dropout.py").read_text()
    regions = [part.partition(kit.END)[0] for part in text.split(kit.BEGIN)[1:]]
    return max(regions, key=lambda region: len(region.splitlines()))


def _plant_text(folder: Path) -> None:
    readme = folder / "README.md"
    readme.write_text(readme.read_text() + _solution_lines())


def _plant_reformatted(folder: Path) -> None:
    lines = [f"  {line}   # why" for line in _solution_lines().splitlines()]
    (folder / "grader" / "values.py").write_text("\n".join(lines))


def _plant_hidden_test(folder: Path) -> None:
    hidden = (ROOT / "tests" / "hidden" / "test_dropout.py").read_text().splitlines()
    visible = folder / "tests" / "visible" / "test_dropout.py"
    visible.write_text(visible.read_text() + "\n".join(hidden[-40:]))


def _plant_folder(folder: Path) -> None:
    (folder / "tests" / "hidden").mkdir()
    (folder / "tests" / "hidden" / "note.txt").write_text("nothing")


def _plant_solution(folder: Path) -> None:
    shutil.copy(ROOT / "solutions" / "clipping.py", folder / "exercises" / "clipping.py")


def _plant_cache(folder: Path) -> None:
    (folder / "grader" / "__pycache__").mkdir()


def _plant_history(folder: Path) -> None:
    (folder / ".git").mkdir()


def _plant_link(folder: Path) -> None:
    (folder / "notes").symlink_to(ROOT / "solutions")


@pytest.mark.parametrize(
    "plant",
    [
        _plant_text,
        _plant_reformatted,
        _plant_hidden_test,
        _plant_folder,
        _plant_solution,
        _plant_cache,
        _plant_history,
        _plant_link,
    ],
)
def test_the_scan_finds_what_was_planted(released, tmp_path, plant):
    copy = tmp_path / "kit"
    shutil.copytree(released, copy)
    assert list(leaks(copy)) == []
    plant(copy)
    assert list(leaks(copy))


def test_a_kit_that_would_leak_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("grader.release._FOLDERS", ("exercises", "grader", "tests"))
    with pytest.raises(Leak, match="hidden"):
        release(tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_newer_kit_takes_the_place_of_the_older_one(tmp_path):
    folder, _ = release(tmp_path)
    (folder / "stray.txt").touch()
    folder, _ = release(tmp_path)
    assert not (folder / "stray.txt").exists()
