"""Who handed in what: a folder of submissions, an LMS bulk download, or nbgrader's `submitted/`.

| layout | what an entry is called |
| --- | --- |
| plain | `STUDENT/` or `STUDENT.zip` |
| nbgrader | `STUDENT/ASSIGNMENT/`, with a `timestamp.txt` |
| Moodle | `Full Name_12345_assignsubmission_file_/dropout.py`, or the same in one file name |
| Canvas | `doejane_12345_67890_dropout-1.py`, `doejane_LATE_12345_67890_homework.zip` |
| Blackboard | `Homework 1_jdoe_attempt_2026-11-03-10-30-00_dropout.py` |

The layouts may be mixed, and each may come as a folder or as one zip. One bad entry never stops the
rest: reading it raises `IngestError`, and its neighbours are read all the same.
"""

from __future__ import annotations

import io
import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import NamedTuple, Self

from grader.ingest import (
    ARCHIVE_BYTES,
    File,
    IngestError,
    Refused,
    Submission,
    folder_file,
    from_folder,
    from_zip,
    open_zip,
    printable,
    select,
    zip_files,
)

_MOODLE = re.compile(r"(?P<student>.+?_\d+)_assignsubmission_file_?(?P<file>.*)")
_BLACKBOARD = re.compile(
    r".+?_(?P<student>[^_]+)_attempt_(?P<when>\d{4}(?:-\d{2}){5})(?:_(?P<file>.+)|\.txt)"
)
_CANVAS = re.compile(r"(?P<student>[^_]+)(?:_LATE)?(?P<id>_\d+)_\d+_(?P<file>.+)")
_CANVAS_ANONYMOUS = re.compile(r"(?P<student>anon_[^\W_]+)(?:_LATE)?_\d+_(?P<file>.+)")
_COPY_NUMBER = re.compile(r"-(\d+)(?=\.\w+$)")
"""What Canvas adds to the name of a file that was handed in before."""


@dataclass(frozen=True)
class Entry:
    """One submission of one student, not read yet.

    Attributes:
      student: the name that results are filed under.
      source: where it lies, for messages.
      handed_in: when, as far as that is known.
      read: reads the modules of the names given, or raises `IngestError`.
    """

    student: str
    source: str
    handed_in: datetime | None
    read: Callable[[Collection[str]], Submission]


class Inbox:
    """All the entries below one path, and what was passed over; closes the zips that it reads."""

    def __init__(
        self, path: Path, modules: Collection[str], *, besides: Path | None = None
    ) -> None:
        """Looks for submissions of `modules`, without reading them yet.

        `besides` is a folder that is no submission though it may lie there.

        Raises:
          IngestError: `path` holds no submissions.
        """
        self.entries: list[Entry] = []
        self.notes: list[str] = []
        self._files = frozenset(f"{module}.py" for module in modules)
        self._besides = besides.resolve() if besides else None
        self._open = ExitStack()
        try:
            if path.is_dir():
                self._add_folder(path)
            elif path.is_file():
                self._add_download(path)
            else:
                raise IngestError(f"{printable(path)} does not exist; check the path.")
            if not self.entries:
                raise IngestError(
                    f"{printable(path)} holds no submissions; "
                    "give a folder that holds a folder or a zip a student."
                )
        except BaseException:
            self.close()
            raise
        self.entries.sort(key=lambda entry: (entry.student, _order(entry.handed_in)))
        self._note_twins()

    def close(self) -> None:
        """Closes what was opened; entries cannot be read any more."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _add(
        self,
        student: str,
        source: str,
        handed_in: datetime | None,
        read: Callable[[Collection[str]], Submission],
    ) -> None:
        self.entries.append(Entry(printable(student), printable(source), handed_in, read))

    def _add_folder(self, path: Path) -> None:
        try:
            children = sorted(os.scandir(path), key=lambda child: child.name)
        except OSError as error:
            raise IngestError(f"{printable(path)} cannot be listed ({error.strerror}).") from error
        loose: list[File] = []
        for child in children:
            if _is_hidden(child.name) or Path(child.path).resolve() == self._besides:
                continue
            if child.is_symlink():
                self.notes.append(f"{printable(child.name)} was passed over: it is a link")
            elif child.is_dir():
                self._add_student_folder(Path(child.path))
            elif child.name in self._files:
                raise IngestError(f"{printable(path)} is one submission: give the folder above it.")
            elif _parse_file(child.name):
                loose.append(folder_file(path, PurePosixPath(child.name)))
            elif child.name.lower().endswith(".zip"):
                self._add_zip(Path(child.path))
            else:
                self._pass_over(child.name)
        self._add_loose(loose)

    def _add_student_folder(self, path: Path) -> None:
        student = _parse_folder(path.name)
        handed_in = _parse_timestamp(_timestamp_text(path)) or _modified(path)
        self._add(
            student, path.name, handed_in, lambda names: from_folder(path, names, name=student)
        )

    def _add_zip(self, path: Path) -> None:
        """Adds a zip that lies in the folder: a student's, or a bulk download."""
        try:
            with path.open("rb") as stream, open_zip(stream) as archive:
                is_download = any(_is_lms(file.path) for file in zip_files(archive))
        except (OSError, Refused):
            is_download = False  # reading it will say what is wrong
        if is_download:
            self._add_download(path)
        else:
            self._add(path.stem, path.name, _modified(path), lambda names: _read_zip(path, names))

    def _add_download(self, path: Path) -> None:
        """Adds all the entries of a zip that holds many submissions."""
        try:
            stream = self._open.enter_context(path.open("rb"))
            archive = self._open.enter_context(open_zip(stream))
        except (OSError, Refused) as error:
            raise IngestError(f"{printable(path)} {_reason(error)}; check the download.") from error
        loose: list[File] = []
        folders: dict[str, list[File]] = defaultdict(list)
        for file in _without_wrapper(zip_files(archive), self._files):
            top, *rest = file.path.parts
            if _is_hidden(top):
                continue
            if rest:
                folders[top].append(replace(file, path=PurePosixPath(*rest)))
            elif top in self._files:
                raise IngestError(f"{printable(path)} is one submission: give the folder above it.")
            elif _parse_file(top):
                loose.append(file)
            elif top.lower().endswith(".zip"):
                self._add_inner_zip(file)
            else:
                self._pass_over(top)
        for folder, files in folders.items():
            stamps = [file for file in files if file.path.name == "timestamp.txt"]
            handed_in = _parse_timestamp(_text(stamps[0])) if stamps else None
            self._add_files(_parse_folder(folder), folder, handed_in, files)
        self._add_loose(loose)

    def _add_inner_zip(self, file: File) -> None:
        student = file.path.stem
        self._add(
            student, file.path.name, None, lambda names: _read_inner_zip(file, names, student)
        )

    def _add_loose(self, files: Iterable[File]) -> None:
        """Adds files whose names carry the student's: those of one attempt belong together."""
        attempts: dict[tuple[str, str], dict[str, tuple[int, File]]] = defaultdict(dict)
        for file in files:
            if (parsed := _parse_file(file.path.name)) is None or not parsed.file:
                continue
            number = int(found[1]) if (found := _COPY_NUMBER.search(parsed.file)) else 0
            name = _COPY_NUMBER.sub("", parsed.file)
            attempt = attempts[parsed.student, parsed.when]
            if name not in attempt or number > attempt[name][0]:
                attempt[name] = number, replace(file, path=PurePosixPath(name))
        for (student, when), named in attempts.items():
            source = f"{student} {when}".strip()
            self._add_files(
                student, source, _parse_timestamp(when), [file for _, file in named.values()]
            )

    def _add_files(
        self, student: str, source: str, handed_in: datetime | None, files: list[File]
    ) -> None:
        self._add(student, source, handed_in, lambda names: select(files, names, name=student))

    def _pass_over(self, name: str) -> None:
        self.notes.append(f"{printable(name)} was passed over: it is neither a folder nor a zip")

    def _note_twins(self) -> None:
        entries: dict[str, list[str]] = defaultdict(list)
        for entry in self.entries:
            entries[entry.student].append(entry.source)
        self.notes += [
            f"{student} is there {len(sources)} times ({', '.join(sources)}): the newest counts"
            for student, sources in entries.items()
            if len(sources) > 1
        ]


class _Named(NamedTuple):
    """What an LMS wrote into a file's name."""

    student: str
    when: str
    file: str


def _parse_file(name: str) -> _Named | None:
    if found := _MOODLE.fullmatch(name):
        return _Named(found["student"], "", found["file"])
    if found := _BLACKBOARD.fullmatch(name):
        return _Named(found["student"], found["when"], found["file"] or "")
    if found := _CANVAS_ANONYMOUS.fullmatch(name):
        return _Named(found["student"], "", found["file"])
    if found := _CANVAS.fullmatch(name):
        return _Named(found["student"] + found["id"], "", found["file"])
    return None


def _parse_folder(name: str) -> str:
    """The student's name that the name of a folder carries."""
    found = _MOODLE.fullmatch(name)
    return found["student"] if found else name


def _is_lms(path: PurePosixPath) -> bool:
    if len(path.parts) == 1:
        return _parse_file(path.name) is not None
    return _MOODLE.fullmatch(path.parts[0]) is not None


def _is_hidden(name: str) -> bool:
    """Whether it is no submission and worth no word."""
    return name.startswith((".", "__")) or "_assignsubmission_onlinetext" in name


def _without_wrapper(files: list[File], modules: Collection[str]) -> list[File]:
    """Leaves out a single folder that lies around the folders or zips of all the students."""
    files = [file for file in files if not _is_hidden(file.path.parts[0])]
    inner = [PurePosixPath(*file.path.parts[1:]) for file in files]
    if len({file.path.parts[0] for file in files}) != 1 or any(_is_lms(f.path) for f in files):
        return files
    students = {path.parts[0] for path in inner if len(path.parts) > 1 or path.suffix == ".zip"}
    if any(str(path) in modules for path in inner):
        return files
    if len(students) > 1 or any(path.parts and _is_lms(path) for path in inner):
        return [
            replace(file, path=path) for file, path in zip(files, inner, strict=True) if path.parts
        ]
    return files


def _read_zip(path: Path, names: Collection[str]) -> Submission:
    try:
        with path.open("rb") as stream:
            return from_zip(stream, names, name=printable(path.stem))
    except (OSError, Refused) as error:
        raise IngestError(f"{printable(path.name)} {_reason(error)}") from error


def _read_inner_zip(file: File, names: Collection[str], student: str) -> Submission:
    try:
        data = file.read(ARCHIVE_BYTES + 1)
        if len(data) > ARCHIVE_BYTES:
            raise Refused(f"is larger than {ARCHIVE_BYTES >> 20} MiB")
        return from_zip(io.BytesIO(data), names, name=student)
    except Refused as error:
        raise IngestError(f"{printable(file.path.name)} {error}") from error


def _reason(error: OSError | Refused) -> str:
    if isinstance(error, OSError):
        return f"cannot be read ({(error.strerror or 'error').lower()})"
    return str(error)


def _modified(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return None


def _timestamp_text(folder: Path) -> str:
    """nbgrader's note of when the newest assignment of a student was handed in."""
    stamps = [folder_file(folder, PurePosixPath("timestamp.txt"))]
    try:
        stamps += [
            folder_file(folder, PurePosixPath(child.name, "timestamp.txt"))
            for child in os.scandir(folder)
            if child.is_dir(follow_symlinks=False)
        ]
    except OSError:
        return ""
    return max(map(_text, stamps))


def _text(file: File) -> str:
    try:
        return file.read(100).decode("ascii", "replace").strip()
    except Refused:
        return ""


def _parse_timestamp(text: str) -> datetime | None:
    """A time as nbgrader (`2026-11-03 10:30:00.000000 UTC`) or Blackboard writes it."""
    for layout in ("%Y-%m-%d %H:%M:%S.%f %Z", "%Y-%m-%d %H:%M:%S %Z", "%Y-%m-%d-%H-%M-%S"):
        try:
            return datetime.strptime(text, layout).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _order(when: datetime | None) -> float:
    return when.timestamp() if when else 0.0
