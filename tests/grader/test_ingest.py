"""What a submission is read from, and what is refused: a test for each way to be odd or hostile."""

from __future__ import annotations

import io
import os
import stat
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import ingest as module
from grader.ingest import IngestError, Submission, ingest

NAMES = ("dropout", "clipping")
SOURCE = b"def dropout(key, x, rate):\n    return x\n"


def write_zip(path: Path, members: dict[str, bytes], **kwargs: int) -> Path:
    """A deflated zip of ``members``."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data, **kwargs)
    return path


def zip_bytes(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def write_folder(path: Path, members: dict[str, bytes]) -> Path:
    for name, data in members.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


@pytest.fixture(params=["folder", "zip"])
def hand_in(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Submission]:
    """Hands files in, as a folder or as a zip, and reads them back."""

    def hand_in(members: dict[str, bytes]) -> Submission:
        if request.param == "folder":
            (tmp_path / "ann").mkdir()
            return ingest(write_folder(tmp_path / "ann", members), NAMES)
        return ingest(write_zip(tmp_path / "ann.zip", members), NAMES)

    return hand_in


class TestWhatIsRead:
    def test_only_modules_asked_for(self, hand_in: Callable[..., Submission]) -> None:
        submission = hand_in({"dropout.py": SOURCE, "numpy.py": b"evil", "data.csv": b"1"})

        assert submission.name == "ann"
        assert dict(submission.modules) == {"dropout": SOURCE}
        assert dict(submission.problems) == {}

    def test_a_missing_module_is_neither_read_nor_refused(
        self, hand_in: Callable[..., Submission]
    ) -> None:
        submission = hand_in({"dropout.py": SOURCE})

        assert "clipping" not in submission.modules
        assert "clipping" not in submission.problems

    @pytest.mark.parametrize("folder", ["exercises/", "homework/", "kit/exercises/"])
    def test_modules_in_a_folder_below(
        self, hand_in: Callable[..., Submission], folder: str
    ) -> None:
        assert hand_in({f"{folder}dropout.py": SOURCE}).modules == {"dropout": SOURCE}

    def test_exercises_goes_before_other_folders(self, hand_in: Callable[..., Submission]) -> None:
        submission = hand_in({"exercises/dropout.py": SOURCE, "a/dropout.py": b"other"})

        assert submission.modules == {"dropout": SOURCE}
        assert any("a/dropout.py was ignored" in note for note in submission.notes)

    def test_what_tools_leave_behind_is_passed_over(
        self, hand_in: Callable[..., Submission]
    ) -> None:
        submission = hand_in(
            {
                ".ipynb_checkpoints/dropout.py": b"old",
                "__MACOSX/dropout.py": b"fork",
                ".venv/lib/dropout.py": b"other",
                "work/dropout.py": SOURCE,
            }
        )

        assert submission.modules == {"dropout": SOURCE}
        assert submission.notes == ()

    @pytest.mark.parametrize(
        "source",
        [
            b"\xef\xbb\xbfx = 1\n",
            b"x = 1\r\n",
            "# coding: latin-1\nx = 'é'\n".encode("latin-1"),
            b"",
            b"\x00\xff not python",
        ],
        ids=["byte order mark", "windows lines", "coding cookie", "empty", "binary"],
    )
    def test_bytes_pass_unchanged(self, hand_in: Callable[..., Submission], source: bytes) -> None:
        assert hand_in({"dropout.py": source}).modules["dropout"] == source

    def test_a_zip_within(self, hand_in: Callable[..., Submission]) -> None:
        inner = zip_bytes({"exercises/dropout.py": SOURCE})

        assert hand_in({"homework.zip": inner, "report.pdf": b""}).modules == {"dropout": SOURCE}

    def test_zips_are_not_searched_without_end(self, hand_in: Callable[..., Submission]) -> None:
        inner = zip_bytes({"b.zip": zip_bytes({"dropout.py": SOURCE})})

        assert hand_in({"a.zip": inner}).modules == {}

    def test_a_damaged_zip_within_refuses_every_module(
        self, hand_in: Callable[..., Submission]
    ) -> None:
        submission = hand_in({"a.zip": b"PK nothing"})

        assert set(submission.problems) == set(NAMES)

    def test_names_of_windows_zips(self, tmp_path: Path) -> None:
        path = tmp_path / "ann.zip"
        info = zipfile.ZipInfo("x")
        info.filename = "exercises\\dropout.py"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(info, SOURCE)

        assert ingest(path, NAMES).modules == {"dropout": SOURCE}


class TestNotes:
    def test_a_misnamed_module(self, hand_in: Callable[..., Submission]) -> None:
        submission = hand_in({"Dropout.py": SOURCE})

        assert submission.modules == {}
        assert submission.notes == ("Dropout.py was ignored: rename it dropout.py",)

    @pytest.mark.parametrize("name", ["conftest.py", "x.pth", "dropout.so", "dropout.pyc"])
    def test_code_that_does_not_belong(self, hand_in: Callable[..., Submission], name: str) -> None:
        submission = hand_in({"dropout.py": SOURCE, name: b"evil"})

        assert submission.modules == {"dropout": SOURCE}
        assert submission.notes == (f"{name} was ignored: it is not a module of the course",)

    def test_the_given_module_is_worth_no_word(self, hand_in: Callable[..., Submission]) -> None:
        submission = hand_in({"dropout.py": SOURCE, "mnist_mlp.py": b"changed"})

        assert submission == Submission("ann", {"dropout": SOURCE}, {}, ())

    def test_are_few_and_safe_to_print(self, hand_in: Callable[..., Submission]) -> None:
        names = {f"\x1b[31m\u202e{i}\n{'long' * 40}.py": b"" for i in range(50)}
        notes = hand_in({"dropout.py": SOURCE} | names).notes

        assert len(notes) == module.NOTES + 1
        assert all(note.isprintable() and len(note) < 200 for note in notes)


class TestRefused:
    def test_a_huge_module(self, hand_in: Callable[..., Submission]) -> None:
        submission = hand_in(
            {"dropout.py": bytes(module.MODULE_BYTES + 1), "clipping.py": bytes(8)}
        )

        assert submission.problems == {"dropout": "dropout.py is larger than 1 MiB"}
        assert set(submission.modules) == {"clipping"}

    def test_the_largest_module_passes(self, hand_in: Callable[..., Submission]) -> None:
        submission = hand_in({"dropout.py": bytes(module.MODULE_BYTES)})

        assert len(submission.modules["dropout"]) == module.MODULE_BYTES

    def test_names_that_differ_in_case(self, hand_in: Callable[..., Submission]) -> None:
        submission = hand_in({"dropout.py": SOURCE, "DROPOUT.py": b"other"})

        assert submission.modules == {}
        assert "differ only in case" in submission.problems["dropout"]

    def test_a_link_in_a_folder(self, tmp_path: Path) -> None:
        (tmp_path / "secret").write_bytes(b"solution")
        folder = write_folder(tmp_path / "ann", {"clipping.py": SOURCE})
        (folder / "dropout.py").symlink_to(tmp_path / "secret")

        submission = ingest(folder, NAMES)

        assert set(submission.modules) == {"clipping"}
        assert "is a link" in submission.problems["dropout"]

    def test_a_linked_folder(self, tmp_path: Path) -> None:
        write_folder(tmp_path / "solutions", {"dropout.py": b"solution"})
        (tmp_path / "ann").mkdir()
        (tmp_path / "ann" / "exercises").symlink_to(tmp_path / "solutions")

        note = "exercises was ignored: it is a link to a folder"
        assert ingest(tmp_path / "ann", NAMES) == Submission("ann", {}, {}, (note,))

    def test_a_folder_swapped_for_a_link_while_it_is_read(self, tmp_path: Path) -> None:
        write_folder(tmp_path / "solutions", {"dropout.py": b"solution"})
        folder = write_folder(tmp_path / "ann", {"exercises/dropout.py": SOURCE})
        _, files, *_ = module._levels(folder, [])
        (folder / "exercises").rename(folder / "old")
        (folder / "exercises").symlink_to(tmp_path / "solutions")

        with pytest.raises(module.Refused):
            files[0].read(100)

    def test_a_hard_link(self, tmp_path: Path) -> None:
        (tmp_path / "secret").write_bytes(b"solution")
        folder = write_folder(tmp_path / "ann", {"clipping.py": SOURCE})
        os.link(tmp_path / "secret", folder / "dropout.py")

        assert "hard link" in ingest(folder, NAMES).problems["dropout"]

    def test_a_pipe_does_not_block(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "dropout.py")

        assert "not a regular file" in ingest(tmp_path, NAMES).problems["dropout"]

    def test_a_folder_called_like_a_module(self, tmp_path: Path) -> None:
        (tmp_path / "dropout.py").mkdir()

        assert ingest(tmp_path, NAMES).modules == {}

    @pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
    def test_a_file_without_permission(self, tmp_path: Path) -> None:
        write_folder(tmp_path, {"dropout.py": SOURCE})
        (tmp_path / "dropout.py").chmod(0)

        assert "permission denied" in ingest(tmp_path, NAMES).problems["dropout"]


class TestHostileZips:
    @pytest.mark.parametrize(
        "name",
        ["../dropout.py", "/dropout.py", "a/../../dropout.py", "C:/dropout.py", "..\\dropout.py"],
    )
    def test_a_name_that_leads_outside(self, tmp_path: Path, name: str) -> None:
        path = write_zip(tmp_path / "ann.zip", {name: b"evil", "work/clipping.py": SOURCE})
        before = set(tmp_path.rglob("*"))

        submission = ingest(path, NAMES)

        assert submission.modules == {"clipping": SOURCE}
        assert "leads out" in submission.problems["dropout"]
        assert set(tmp_path.rglob("*")) == before

    @pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
    def test_a_link_or_a_device(self, tmp_path: Path, kind: int) -> None:
        info = zipfile.ZipInfo("dropout.py")
        info.external_attr = (kind | 0o777) << 16
        with zipfile.ZipFile(tmp_path / "ann.zip", "w") as archive:
            archive.writestr(info, b"/etc/passwd")

        submission = ingest(tmp_path / "ann.zip", NAMES)

        assert submission.modules == {}
        assert set(submission.problems) == {"dropout"}

    def test_two_files_of_one_name(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "ann.zip", "w") as archive:
            archive.writestr("dropout.py", SOURCE)
            with pytest.warns(UserWarning, match="Duplicate"):
                archive.writestr("dropout.py", b"other")

        assert "2 times" in ingest(tmp_path / "ann.zip", NAMES).problems["dropout"]

    def test_an_encrypted_module(self, tmp_path: Path) -> None:
        data = bytearray(zip_bytes({"dropout.py": SOURCE}))
        data[6] |= 1  # the flag in the file's own header, and below in the table of contents
        data[data.index(b"PK\x01\x02") + 8] |= 1
        (tmp_path / "ann.zip").write_bytes(data)

        assert "encrypted" in ingest(tmp_path / "ann.zip", NAMES).problems["dropout"]

    def test_a_bomb_costs_neither_time_nor_memory(self, tmp_path: Path) -> None:
        path = tmp_path / "ann.zip"
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open("dropout.py", "w", force_zip64=True) as member,
        ):
            for _ in range(512):
                member.write(bytes(1 << 20))
        tracemalloc.start()
        try:
            submission = ingest(path, NAMES)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

        assert submission.problems == {"dropout": "dropout.py is larger than 1 MiB"}
        assert peak < 16 << 20

    def test_a_bomb_in_a_zip_within(self, tmp_path: Path) -> None:
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("dropout.py", bytes(64 << 20))
        path = write_zip(tmp_path / "ann.zip", {"a.zip": inner.getvalue()})

        assert "larger than 1 MiB" in ingest(path, NAMES).problems["dropout"]

    @pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_methods_that_cannot_be_read_in_small_bites(self, tmp_path: Path, method: int) -> None:
        path = write_zip(tmp_path / "a.zip", {"dropout.py": SOURCE}, compress_type=method)

        assert "default settings" in ingest(path, NAMES).problems["dropout"]

    def test_a_size_that_lies(self, tmp_path: Path) -> None:
        data = bytearray(zip_bytes({"dropout.py": SOURCE}))
        at = data.index(b"PK\x01\x02") + 24
        data[at : at + 4] = (5).to_bytes(4, "little")
        (tmp_path / "ann.zip").write_bytes(data)

        assert "damaged" in ingest(tmp_path / "ann.zip", NAMES).problems["dropout"]

    def test_a_damaged_module_spares_the_others(self, tmp_path: Path) -> None:
        data = bytearray(zip_bytes({"dropout.py": SOURCE, "clipping.py": b"ok"}))
        data[data.index(SOURCE)] ^= 0xFF
        (tmp_path / "ann.zip").write_bytes(data)

        submission = ingest(tmp_path / "ann.zip", NAMES)

        assert submission.modules == {"clipping": b"ok"}
        assert "damaged" in submission.problems["dropout"]

    def test_a_huge_table_of_contents(self, tmp_path: Path) -> None:
        count = module.INDEX_BYTES // 46 + 1
        header = b"PK\x01\x02" + bytes(42)
        end = b"PK\x05\x06" + bytes(4) + b"\xff\xff" * 2
        end += (count * 46).to_bytes(4, "little") + bytes(4) + bytes(2)
        (tmp_path / "ann.zip").write_bytes(header * count + end)
        start = time.monotonic()

        with pytest.raises(IngestError, match="not a zip that can be read"):
            ingest(tmp_path / "ann.zip", NAMES)

        assert time.monotonic() - start < 5


class TestNothingToRead:
    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda path: None, "check the path"),
            (lambda path: path.write_bytes(b"def f(): ..."), "not a zip that can be read"),
            (lambda path: path.write_bytes(b""), "not a zip that can be read"),
            (os.mkfifo, "not a folder or a zip"),
            (lambda path: path.symlink_to(path), "check the path"),
        ],
        ids=["absent", "text", "empty", "pipe", "link to itself"],
    )
    def test_says_so_in_one_line(
        self, tmp_path: Path, make: Callable[[Path], object], message: str
    ) -> None:
        make(tmp_path / "ann.zip")

        with pytest.raises(IngestError, match=message) as caught:
            ingest(tmp_path / "ann.zip", NAMES)

        assert "\n" not in str(caught.value)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root lists everything")
    def test_a_folder_that_cannot_be_listed(self, tmp_path: Path) -> None:
        (tmp_path / "ann").mkdir(mode=0)

        with pytest.raises(IngestError, match="check its permissions"):
            ingest(tmp_path / "ann", NAMES)

    def test_a_path_that_no_file_can_have(self) -> None:
        with pytest.raises(IngestError):
            ingest(Path("a\0b"), NAMES)

    def test_a_folder_of_ten_thousands_is_not_searched_to_the_end(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "FOLDER_ENTRIES", 10)
        write_folder(tmp_path, {f"data/{i}.txt": b"" for i in range(20)})

        assert ingest(tmp_path, NAMES).notes == ("only 10 files were looked at",)
