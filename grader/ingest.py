"""Read a submission: a folder or a zip goes in, the bytes of the modules asked for come out.

Only `NAME.py` for the names asked for is ever read; nothing is unpacked to disk, no link is
followed, and every size is capped while reading, whatever a header says. A student's mistake (a
link, a huge file, two files of one name) costs that module, and says why; `IngestError` is
for a submission of which nothing can be read.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import struct
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

MODULE_BYTES = 1 << 20
"""Largest module, in bytes."""
NOTEBOOK_BYTES = 32 << 20
"""Largest notebook, in bytes: it may hold pictures."""
ARCHIVE_BYTES = 64 << 20
"""Largest zip inside a zip, in bytes: it is held in memory."""
INDEX_BYTES = 8 << 20
"""Largest table of contents of a zip, in bytes: room for some 80,000 files."""
ARCHIVE_FILES = 100_000
FOLDER_ENTRIES = 20_000
DEPTH = 4
"""How many folders deep the modules may lie."""
NOTES = 8

_CODE = {".py", ".pyc", ".pth", ".so"}
_GIVEN = "mnist_mlp.py"
"""Lies beside everybody's modules; the course's own is used."""
_ZIP_METHODS = (
    zipfile.ZIP_STORED,
    zipfile.ZIP_DEFLATED,
)  # bzip2 and lzma cannot be read in small bites
_ENCRYPTED = 0x1
_BROKEN_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    IndexError,
    OverflowError,
)


class IngestError(ValueError):
    """Nothing of a submission can be read; the message is one line that names the next step."""


class Refused(Exception):
    """One file must not or cannot be read; the message is the reason, in one line."""


@dataclass(frozen=True)
class Submission:
    """What was handed in, as bytes.

    A module that was asked for is in `modules` (its source), or in `problems` (why it was
    refused), or in neither: missing.
    """

    name: str
    modules: Mapping[str, bytes]
    problems: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class File:
    """A file of a submission that has not been read yet.

    `read(limit)` returns its bytes, never more than `limit`, or raises `Refused`.
    `outside` marks a name that led out of its zip: only what is left of it is in `path`.
    """

    path: PurePosixPath
    read: Callable[[int], bytes]
    outside: bool = False


def ingest(path: Path, names: Collection[str]) -> Submission:
    """Read the modules `names` of the submission at `path`, a folder or a zip.

    A name with a suffix (`dropout.ipynb`) is that file instead of a module.

    The modules lie at the top, or in `exercises/` or another folder below, or in a single zip
    within.

    Raises:
        IngestError: `path` is neither, or cannot be read at all.
    """
    path = Path(path)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise IngestError(
            f"{printable(path)} cannot be read ({_why(error)}); check the path."
        ) from error
    name = printable(path.stem if path.suffix.lower() == ".zip" else path.resolve().name)
    if stat.S_ISDIR(mode):
        return from_folder(path, names, name=name)
    if not stat.S_ISREG(mode):
        raise IngestError(
            f"{printable(path)} is not a folder or a zip; give the folder of your modules."
        )
    try:
        with open(path, "rb") as stream:
            return from_zip(stream, names, name=name)
    except OSError as error:
        raise IngestError(
            f"{printable(path)} cannot be read ({_why(error)}); check its permissions."
        ) from error
    except Refused as error:
        raise IngestError(
            f"{printable(path)} {error}; give a folder of modules or a zip of it."
        ) from error


def from_folder(path: Path, names: Collection[str], *, name: str) -> Submission:
    """Read a submission from a folder, or raise `IngestError` if it cannot be listed."""
    notes: list[str] = []
    wanted = set(map(_file_name, names))
    seen: list[File] = []
    for level in _levels(path, notes):
        seen += level
        if any(file.path.name in wanted for file in level):
            break
    return select(seen, names, name=name, notes=notes)


def from_zip(stream: io.BufferedIOBase, names: Collection[str], *, name: str) -> Submission:
    """Read a submission from an open zip, or raise `Refused` if it cannot be read."""
    with open_zip(stream) as archive:
        return select(zip_files(archive), names, name=name)


def select(
    files: Iterable[File],
    names: Collection[str],
    *,
    name: str,
    notes: Iterable[str] = (),
    nested: bool = True,
) -> Submission:
    """Choose the folder that holds the modules among `files` and read them.

    Where there are no modules but one zip, that zip is the submission, unless `nested` is false.
    """
    files = [file for file in files if not _is_clutter(file.path)]
    wanted = {_file_name(name): name for name in names}
    notes = list(notes)
    folder, others = _folder_of_modules(files, wanted)
    if folder is None:
        zips = [file for file in files if file.path.suffix.lower() == ".zip"]
        if nested and len(zips) == 1:
            return _inner_zip(zips[0], names, name)
        if nested and len(zips) > 1:
            notes.append(f"{len(zips)} zips and no modules beside them: hand in one zip")
        folder = PurePosixPath()
    notes += [
        f"{printable(file.path)} was ignored: only {printable(folder / '*')} counts"
        for file in others
    ]

    groups: dict[str, list[File]] = defaultdict(list)
    for file in files:
        if file.path.parent == folder or file.outside:
            groups[file.path.name.casefold()].append(file)

    modules: dict[str, bytes] = {}
    problems: dict[str, str] = {}
    for file_name, module in wanted.items():
        found = groups.pop(file_name.casefold(), [])
        exact = [file for file in found if file.path.name == file_name]
        if len(found) > 1:
            how = "" if len(exact) == len(found) else ", in names that differ only in case"
            problems[module] = f"{file_name} is there {len(found)} times{how}; keep one"
        elif exact:
            try:
                modules[module] = read_module(exact[0])
            except Refused as error:
                problems[module] = f"{file_name} {error}"
        elif found:
            notes.append(f"{printable(found[0].path)} was ignored: rename it {file_name}")
    noted = _CODE | {PurePosixPath(file_name).suffix for file_name in wanted}
    for group in groups.values():
        notes += [
            f"{printable(file.path)} was ignored: it is not a module of the course"
            for file in group
            if file.path.suffix.lower() in noted and file.path.name != _GIVEN
        ]
    if len(notes) > NOTES:
        notes[NOTES:] = [f"and {len(notes) - NOTES} notes more"]
    return Submission(name, modules, problems, tuple(notes))


def read_module(file: File) -> bytes:
    """The bytes of a module or a notebook, or `Refused`."""
    is_notebook = file.path.suffix == ".ipynb"
    return _capped(file, NOTEBOOK_BYTES if is_notebook else MODULE_BYTES)


def _file_name(name: str) -> str:
    return name if "." in name else f"{name}.py"


def _capped(file: File, most: int) -> bytes:
    data = file.read(most + 1)
    if len(data) > most:
        raise Refused(f"is larger than {most >> 20} MiB")
    return data


def _inner_zip(file: File, names: Collection[str], name: str) -> Submission:
    try:
        with open_zip(io.BytesIO(_capped(file, ARCHIVE_BYTES))) as archive:
            return select(zip_files(archive), names, name=name, nested=False)
    except Refused as error:
        reason = f"was not read: {printable(file.path)} {error}"
        return Submission(name, {}, {module: f"{_file_name(module)} {reason}" for module in names})


def _folder_of_modules(
    files: list[File], wanted: Mapping[str, str]
) -> tuple[PurePosixPath | None, list[File]]:
    """The shallowest folder with modules (`exercises` first), and the modules elsewhere."""
    modules = [
        file
        for file in files
        if file.path.name in wanted and len(file.path.parts) <= DEPTH and not file.outside
    ]
    if not modules:
        return None, []
    folders = {file.path.parent for file in modules}
    folder = min(folders, key=lambda path: (len(path.parts), path.name != "exercises", str(path)))
    return folder, [file for file in modules if file.path.parent != folder]


def _is_clutter(path: PurePosixPath) -> bool:
    """Whether a path is what editors, git, Python or macOS leave behind."""
    return any(part.startswith((".", "__")) or part == "site-packages" for part in path.parts)


# Folders


def _levels(root: Path, notes: list[str]) -> Iterator[list[File]]:
    """The files of a folder, then those one folder deeper, and so on; no link is followed."""
    folders, entries = [PurePosixPath()], 0
    for _ in range(DEPTH):
        files: list[File] = []
        deeper: list[PurePosixPath] = []
        for folder in folders:
            try:
                with os.scandir(root / folder) as listing:
                    for entry in listing:
                        entries += 1
                        path = folder / entry.name
                        if entries > FOLDER_ENTRIES:
                            notes.append(f"only {FOLDER_ENTRIES} files were looked at")
                            yield files
                            return
                        if entry.is_symlink() and entry.is_dir():
                            notes.append(f"{printable(path)} was ignored: it is a link to a folder")
                        elif not entry.is_dir(follow_symlinks=False):
                            files.append(folder_file(root, path))
                        elif not _is_clutter(path):
                            deeper.append(path)
            except OSError as error:
                if folder == PurePosixPath():
                    raise IngestError(
                        f"{printable(root)} cannot be listed ({_why(error)}); "
                        "check its permissions."
                    ) from error
                notes.append(
                    f"{printable(folder)} was ignored: it cannot be listed ({_why(error)})"
                )
        yield files
        folders = sorted(deeper)


def folder_file(root: Path, path: PurePosixPath) -> File:
    """The file at `path` below the folder `root`, not opened yet."""
    return File(path, _FolderReader(root, path))


@dataclass(frozen=True)
class _FolderReader:
    """Reads one regular file below `root`: no link on the way, no waiting on a pipe."""

    root: Path
    path: PurePosixPath

    def __call__(self, limit: int) -> bytes:
        try:
            handle = self._open()
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.EMLINK}:
                raise Refused("is a link; hand in the file itself") from error
            raise Refused(f"cannot be read ({_why(error)})") from error
        with open(handle, "rb") as stream:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise Refused("is not a regular file")
            if status.st_nlink > 1:
                raise Refused("is a hard link to another file; hand in a copy")
            try:
                return stream.read(limit)
            except OSError as error:
                raise Refused(f"cannot be read ({_why(error)})") from error

    def _open(self) -> int:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        at = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in self.path.parts[:-1]:
                outer, at = at, os.open(part, flags | os.O_DIRECTORY, dir_fd=at)
                os.close(outer)
            return os.open(self.path.name, flags, dir_fd=at)
        finally:
            os.close(at)


# Zips


def open_zip(stream: io.BufferedIOBase) -> zipfile.ZipFile:
    """Open a zip whose table of contents is of a sane size. Raises `Refused`."""
    try:
        archive = zipfile.ZipFile(_ThriftyStream(stream))
    except _BROKEN_ZIP as error:
        raise Refused("is not a zip that can be read") from error
    if len(archive.infolist()) > ARCHIVE_FILES:
        raise Refused(f"holds more than {ARCHIVE_FILES} files")
    return archive


def zip_files(archive: zipfile.ZipFile) -> list[File]:
    """The files of a zip, by a safe relative path each; one that leads outside is refused later."""
    files = []
    for info in archive.infolist():
        if info.is_dir():
            continue
        parts = info.filename.replace("\\", "/").split("/")
        safe = [part for part in parts if part not in {"", ".", ".."} and not part.endswith(":")]
        if not safe:
            continue
        outside = ".." in parts or parts[0] == "" or parts[0].endswith(":")
        files.append(File(PurePosixPath(*safe), _ZipReader(archive, info, outside), outside))
    return files


@dataclass(frozen=True)
class _ZipReader:
    """Reads one regular, plain file of a zip."""

    archive: zipfile.ZipFile
    info: zipfile.ZipInfo
    outside: bool

    def __call__(self, limit: int) -> bytes:
        kind = stat.S_IFMT(self.info.external_attr >> 16)
        if self.outside:
            raise Refused("has a name that leads out of its zip")
        if stat.S_ISLNK(kind):
            raise Refused("is a link; zip the file itself")
        if kind not in {0, stat.S_IFREG}:
            raise Refused("is not a regular file")
        if self.info.flag_bits & _ENCRYPTED:
            raise Refused("is encrypted; zip it without a password")
        if self.info.compress_type not in _ZIP_METHODS:
            raise Refused("is compressed in an unusual way; zip it with the default settings")
        try:
            with self.archive.open(self.info) as member:
                return member.read(limit)
        except _BROKEN_ZIP as error:
            raise Refused("cannot be read: the zip is damaged") from error


class _ThriftyStream(io.BufferedIOBase):
    """A stream that refuses to hand out too much at once, as a forged index would ask for."""

    def __init__(self, stream: io.BufferedIOBase) -> None:
        self._stream = stream
        self._size = stream.seek(0, io.SEEK_END)
        stream.seek(0)

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(0, self._size - self._stream.tell())
        asked = left if size is None or size < 0 else min(size, left)
        if asked > INDEX_BYTES:
            raise zipfile.BadZipFile("table of contents too large")
        return self._stream.read(asked)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


def printable(text: object, most: int = 100) -> str:
    """A file's name as it may be shown: one line, no control characters, of bounded length."""
    shown = "".join(char if char.isprintable() else "?" for char in str(text))
    return shown if len(shown) <= most else shown[: most - 3] + "..."


def _why(error: Exception) -> str:
    return (
        os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "bad name"
    ).lower()
