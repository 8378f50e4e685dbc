"""Every layout that submissions come in, as a folder and as one zip."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.batch.inputs import Entry, Inbox
from grader.ingest import IngestError

NAMES = ("dropout", "clipping")


def zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def write(folder: Path, members: dict[str, bytes]) -> Path:
    for name, data in members.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


Receive = Callable[[dict[str, bytes]], Inbox]


@pytest.fixture(params=["folder", "zip", "zip with one folder around", "zip in a folder"])
def receive(request: pytest.FixtureRequest, tmp_path: Path) -> Receive:
    """Opens what was handed in, packed in one of the ways in which it arrives."""

    def receive(members: dict[str, bytes]) -> Inbox:
        if request.param == "folder":
            return Inbox(write(tmp_path / "submitted", members), NAMES)
        if request.param == "zip with one folder around":
            members = {f"submissions/{name}": data for name, data in members.items()}
        path = tmp_path / "download.zip"
        if request.param == "zip in a folder":
            (tmp_path / "inbox").mkdir()
            path = tmp_path / "inbox" / "download.zip"
        path.write_bytes(zipped(members))
        return Inbox(path.parent if request.param == "zip in a folder" else path, NAMES)

    return receive


def read(inbox: Inbox) -> dict[str, dict[str, bytes]]:
    """What each student handed in."""
    with inbox:
        return {entry.student: dict(entry.read(NAMES).modules) for entry in inbox.entries}


class TestLayouts:
    @pytest.mark.parametrize(
        "members",
        [
            {
                "Ann Lee_101_assignsubmission_file_/dropout.py": b"a",
                "Ann Lee_101_assignsubmission_file_/clipping.py": b"b",
                "Bob_102_assignsubmission_file_/answers/dropout.py": b"c",
                "Bob_102_assignsubmission_onlinetext_/onlinetext.html": b"",
            },
            {
                "Ann Lee_101_assignsubmission_file_dropout.py": b"a",
                "Ann Lee_101_assignsubmission_file_clipping.py": b"b",
                "Bob_102_assignsubmission_file_hw.zip": zipped({"dropout.py": b"c"}),
            },
        ],
        ids=["folders", "flat"],
    )
    def test_moodle(self, receive: Receive, members: dict[str, bytes]) -> None:
        found = read(receive(members))

        assert found["Ann Lee_101"] == {"dropout": b"a", "clipping": b"b"}
        assert found["Bob_102"] == {"dropout": b"c"}

    def test_canvas(self, receive: Receive) -> None:
        found = read(
            receive(
                {
                    "leeann_11_901_dropout.py": b"old",
                    "leeann_11_905_dropout-2.py": b"newest",
                    "leeann_11_903_dropout-1.py": b"newer",
                    "leeann_11_902_clipping.py": b"b",
                    "bob_LATE_12_904_homework.zip": zipped({"hw/dropout.py": b"c"}),
                    "anon_x7YqZ_906_dropout.py": b"d",
                }
            )
        )

        assert found == {
            "leeann_11": {"dropout": b"newest", "clipping": b"b"},
            "bob_12": {"dropout": b"c"},
            "anon_x7YqZ": {"dropout": b"d"},
        }

    def test_blackboard(self, receive: Receive) -> None:
        inbox = receive(
            {
                "Homework 1_alee_attempt_2026-11-03-10-30-00_dropout.py": b"first",
                "Homework 1_alee_attempt_2026-11-03-10-30-00.txt": b"Name: Ann Lee",
                "Homework 1_alee_attempt_2026-11-05-09-00-00_dropout.py": b"second",
                "Homework 1_bob_attempt_2026-11-04-10-30-00_hw.zip": zipped({"dropout.py": b"c"}),
            }
        )

        with inbox:
            assert [(e.student, e.read(NAMES).modules["dropout"]) for e in inbox.entries] == [
                ("alee", b"first"),
                ("alee", b"second"),
                ("bob", b"c"),
            ]
            assert inbox.entries[1].handed_in == datetime(2026, 11, 5, 9, tzinfo=UTC)

    @pytest.mark.parametrize("receive", ["folder", "zip"], indirect=True)
    def test_nbgrader(self, receive: Receive) -> None:
        inbox = receive(
            {
                "ann/jax/dropout.py": b"a",
                "ann/jax/timestamp.txt": b"2026-11-03 10:30:00.250000 UTC\n",
                "ann/jax/1-dropout.ipynb": b"{}",
                "bob/jax/clipping.py": b"b",
            }
        )

        with inbox:
            ann, bob = inbox.entries
            assert ann.read(NAMES).modules == {"dropout": b"a"}
            assert ann.handed_in == datetime(2026, 11, 3, 10, 30, 0, 250000, UTC)
            assert bob.read(NAMES).modules == {"clipping": b"b"}

    @pytest.mark.parametrize(
        "receive", ["folder", "zip", "zip with one folder around"], indirect=True
    )
    def test_a_folder_or_a_zip_a_student(self, receive: Receive) -> None:
        found = read(
            receive(
                {
                    "ann/dropout.py": b"a",
                    "bob/exercises/dropout.py": b"b",
                    "cy.zip": zipped({"homework/dropout.py": b"c"}),
                    "dee/hw.zip": zipped({"dropout.py": b"d"}),
                    "nobody/readme.txt": b"",
                }
            )
        )

        assert {name: modules.get("dropout") for name, modules in found.items()} == {
            "ann": b"a",
            "bob": b"b",
            "cy": b"c",
            "dee": b"d",
            "nobody": None,
        }


class TestOddEntries:
    def test_a_bad_zip_spares_the_others(self, tmp_path: Path) -> None:
        write(tmp_path, {"ann/dropout.py": b"a", "bob.zip": b"not a zip", "cy/dropout.py": b"c"})

        with Inbox(tmp_path, NAMES) as inbox:
            ann, bob, cy = inbox.entries
            with pytest.raises(IngestError, match=r"bob\.zip is not a zip that can be read"):
                bob.read(NAMES)
            assert ann.read(NAMES).modules == {"dropout": b"a"}
            assert cy.read(NAMES).modules == {"dropout": b"c"}

    def test_a_bad_zip_within_a_download_spares_the_others(self, tmp_path: Path) -> None:
        path = tmp_path / "all.zip"
        path.write_bytes(zipped({"ann.zip": zipped({"dropout.py": b"a"}), "bob.zip": b"no zip"}))

        with Inbox(path, NAMES) as inbox:
            ann, bob = inbox.entries
            assert ann.read(NAMES).modules == {"dropout": b"a"}
            with pytest.raises(IngestError, match=r"bob\.zip"):
                bob.read(NAMES)

    def test_a_student_who_is_there_twice(self, tmp_path: Path) -> None:
        write(tmp_path, {"ann/dropout.py": b"a", "ann.zip": zipped({"dropout.py": b"b"})})

        with Inbox(tmp_path, NAMES) as inbox:
            assert [entry.student for entry in inbox.entries] == ["ann", "ann"]
            assert inbox.notes == ["ann is there 2 times (ann, ann.zip): the newest counts"]

    def test_other_files_are_passed_over(self, tmp_path: Path) -> None:
        write(tmp_path, {"ann/dropout.py": b"a", "marks.xlsx": b"", ".DS_Store": b""})
        (tmp_path / "linked").symlink_to(tmp_path / "ann")

        with Inbox(tmp_path, NAMES) as inbox:
            assert [entry.student for entry in inbox.entries] == ["ann"]
            assert inbox.notes == [
                "linked was passed over: it is a link",
                "marks.xlsx was passed over: it is neither a folder nor a zip",
            ]

    def test_the_folder_for_results_is_no_student(self, tmp_path: Path) -> None:
        write(tmp_path, {"ann/dropout.py": b"a", "out/summary.csv": b""})

        with Inbox(tmp_path, NAMES, besides=tmp_path / "ann" / ".." / "out") as inbox:
            assert [entry.student for entry in inbox.entries] == ["ann"]

    def test_names_are_safe_to_print(self, tmp_path: Path) -> None:
        write(tmp_path, {"ann\x1b[31m\n\u202e/dropout.py": b"a"})

        with Inbox(tmp_path, NAMES) as inbox:
            assert inbox.entries[0].student == "ann?[31m??"

    def test_a_download_that_leads_outside(self, tmp_path: Path) -> None:
        path = tmp_path / "all.zip"
        path.write_bytes(zipped({"ann/dropout.py": b"a", "bob/../../../dropout.py": b"evil"}))

        with Inbox(path, NAMES) as inbox:
            entries: dict[str, Entry] = {entry.student: entry for entry in inbox.entries}
            assert entries["bob"].read(NAMES).modules == {}
            assert entries["ann"].read(NAMES).modules == {"dropout": b"a"}


class TestNothingThere:
    @pytest.mark.parametrize(
        ("members", "message"),
        [
            ({}, "holds no submissions"),
            ({"readme.txt": b""}, "holds no submissions"),
            ({"dropout.py": b""}, "is one submission"),
        ],
    )
    @pytest.mark.parametrize("receive", ["folder", "zip"], indirect=True)
    def test_says_so(self, receive: Receive, members: dict[str, bytes], message: str) -> None:
        with pytest.raises(IngestError, match=message):
            receive({"__MACOSX/x": b""} | members)

    def test_no_such_path(self, tmp_path: Path) -> None:
        with pytest.raises(IngestError, match="does not exist"):
            Inbox(tmp_path / "absent", NAMES)

    def test_no_zip(self, tmp_path: Path) -> None:
        (tmp_path / "all.zip").write_bytes(b"no zip")

        with pytest.raises(IngestError, match="check the download"):
            Inbox(tmp_path / "all.zip", NAMES)
