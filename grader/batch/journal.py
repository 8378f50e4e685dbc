"""The batch's memory: every verdict is on disk the moment it exists.

One SQLite file in WAL mode. Sources, submissions and verdicts are kept apart: a verdict belongs to
the content of a module and to the setting that it was made in, so equal modules share one, and a
change of the tests or of the machine asks for a new one without losing the old.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import msgspec

from grader.batch.tasks import Task, Verdict, ungraded
from grader.ingest import printable
from grader.report.model import ExerciseResult, Report

FILE = "journal.sqlite"
SCHEMA = 1
Which = Literal["latest", "best"]

_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE submissions (
    id INTEGER PRIMARY KEY,
    student TEXT NOT NULL,
    digest TEXT NOT NULL,      -- of all its parts: the same content handed in again is the same row
    source TEXT NOT NULL,
    scan INTEGER NOT NULL,     -- the number of the run that saw it last
    handed_in REAL NOT NULL,   -- seconds since 1970
    unreadable TEXT NOT NULL,  -- why nothing could be read, else empty
    notes TEXT NOT NULL,       -- JSON list
    UNIQUE (student, digest)
);
CREATE TABLE contents (content TEXT PRIMARY KEY, task BLOB NOT NULL);
CREATE TABLE parts (
    submission INTEGER NOT NULL REFERENCES submissions,
    exercise TEXT NOT NULL,
    content TEXT NOT NULL REFERENCES contents,
    PRIMARY KEY (submission, exercise)
) WITHOUT ROWID;
CREATE INDEX parts_by_content ON parts (content);
CREATE TABLE verdicts (
    content TEXT NOT NULL,
    setting TEXT NOT NULL,
    graded INTEGER NOT NULL,   -- 0: the grader failed, and the row never replaces one with 1
    points REAL NOT NULL,
    max_points REAL NOT NULL,
    made REAL NOT NULL,
    environment TEXT NOT NULL,
    result BLOB NOT NULL,
    PRIMARY KEY (content, setting)
);
CREATE VIEW results AS
    SELECT student, submissions.id AS submission, exercise, verdicts.*
    FROM submissions JOIN parts ON parts.submission = submissions.id
    JOIN verdicts ON verdicts.content = parts.content;
"""


class JournalError(Exception):
    """The journal cannot be used; the message is one line that names the next step."""


@dataclass(frozen=True)
class Handed:
    """A submission as the journal knows it."""

    id: int
    student: str
    source: str
    handed_in: datetime
    unreadable: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Marks:
    """A submission and what is known of it.

    Attributes:
      report: all the exercises in the order of the course; without a verdict they are ungraded.
      outdated: names of exercises whose result is of an earlier setting, the newest grading of them
        having failed.
    """

    submission: Handed
    report: Report
    outdated: tuple[str, ...]

    @property
    def graded(self) -> bool:
        """Whether every item of every exercise has a verdict."""
        return not self.report.ungraded


class Journal:
    """Submissions and verdicts of one `--out` folder; one process at a time may hold it."""

    def __init__(self, folder: Path, exercises: Sequence[str], *, resume: bool) -> None:
        """Opens or makes the journal in `folder`.

        Raises:
          JournalError: it is another course's, another batch is running, or it cannot be written.
        """
        self.path = folder / FILE
        self._exercises = tuple(exercises)
        self._open = ExitStack()
        try:
            self._open.enter_context(_locked(folder))
            if self.path.exists() and not resume:
                raise JournalError(
                    f"{printable(folder)} holds a batch already; "
                    "--resume goes on with it, another --out starts afresh."
                )
            with explained(self.path):
                self._db = sqlite3.connect(self.path, isolation_level=None, timeout=60)
                self._open.callback(self._db.close)
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = FULL")
                self._prepare()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
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

    def _prepare(self) -> None:
        """Makes the tables of a new journal; checks that an old one is of this course."""
        with self._transaction():
            (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not tables:
                for statement in _TABLES.split(";"):
                    self._db.execute(statement)
                about = {"schema": SCHEMA, "exercises": json.dumps(self._exercises), "scans": 0}
                self._db.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        schema, exercises = self._about("schema"), json.loads(self._about("exercises"))
        if int(schema) != SCHEMA:
            raise JournalError(
                f"{self.path} is of another version of the grader; choose another --out."
            )
        if tuple(exercises) != self._exercises:
            raise JournalError(
                f"{self.path} is of another course ({', '.join(exercises)}); choose another --out."
            )

    def _about(self, name: str) -> str:
        row = self._db.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise JournalError(f"{self.path} is not a journal of the grader; choose another --out.")
        return str(row[0])

    # Submissions

    def begin_scan(self) -> None:
        """Starts a new look at what was handed in: what is added from now on is the latest."""
        with explained(self.path):
            self._db.execute("UPDATE about SET value = value + 1 WHERE name = 'scans'")

    def add(
        self,
        student: str,
        source: str,
        handed_in: datetime | None,
        tasks: Sequence[Task],
        *,
        unreadable: str = "",
        notes: Sequence[str] = (),
    ) -> None:
        """Files a submission and its tasks; one with the same content is only seen again."""
        contents = "".join(task.content for task in tasks) or unreadable
        row = {
            "student": student,
            "digest": hashlib.sha256(contents.encode()).hexdigest(),
            "source": source,
            "scan": self._about("scans"),
            "handed_in": handed_in.timestamp() if handed_in else 0.0,
            "unreadable": unreadable,
            "notes": json.dumps(notes),
        }
        with explained(self.path), self._transaction():
            (submission,) = self._db.execute(
                "INSERT INTO submissions VALUES"
                " (NULL, :student, :digest, :source, :scan, :handed_in, :unreadable, :notes)"
                " ON CONFLICT DO UPDATE SET source = :source, scan = :scan, notes = :notes,"
                " handed_in = max(handed_in, :handed_in) RETURNING id",
                row,
            ).fetchone()
            for task in tasks:
                self._db.execute(
                    "INSERT OR IGNORE INTO contents VALUES (?, ?)",
                    (task.content, msgspec.msgpack.encode(task)),
                )
                self._db.execute(
                    "INSERT OR IGNORE INTO parts VALUES (?, ?, ?)",
                    (submission, task.exercise, task.content),
                )

    def students(self) -> list[str]:
        """Everybody who ever handed in, in alphabetical order."""
        rows = self._db.execute("SELECT DISTINCT student FROM submissions ORDER BY student")
        return [student for (student,) in rows]

    def submissions(self, student: str) -> list[Handed]:
        """What a student handed in, the latest first."""
        rows = self._db.execute(
            "SELECT id, student, source, handed_in, unreadable, notes FROM submissions"
            " WHERE student = ? ORDER BY scan DESC, handed_in DESC, id DESC",
            (student,),
        )
        return [_handed(row) for row in rows]

    def sources(self, submission: Handed) -> dict[str, bytes]:
        """The modules of a submission."""
        rows = self._db.execute(
            "SELECT exercise, task FROM parts JOIN contents USING (content) WHERE submission = ?",
            (submission.id,),
        )
        found = {name: msgspec.msgpack.decode(task, type=Task).modules for name, task in rows}
        return {name: modules[name] for name, modules in found.items() if name in modules}

    # Verdicts

    def record(self, verdict: Verdict, setting: str) -> None:
        """Keeps a verdict. A failed grading never replaces a good verdict."""
        points, max_points = verdict.result.points, verdict.result.max_points
        environment = msgspec.json.encode(verdict.environment).decode()
        with explained(self.path):
            self._db.execute(
                "INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " graded = excluded.graded, points = excluded.points, made = excluded.made,"
                " max_points = excluded.max_points, environment = excluded.environment,"
                " result = excluded.result WHERE excluded.graded OR NOT graded",
                (
                    *(verdict.content, setting, verdict.graded, points, max_points, time.time()),
                    *(environment, msgspec.msgpack.encode(verdict.result)),
                ),
            )

    def count_waiting(self, setting: str) -> int:
        """How many different tasks have no good verdict in `setting`."""
        (count,) = self._db.execute(
            f"SELECT count(*) FROM ({_WAITING})", {"setting": setting}
        ).fetchone()
        return int(count)

    def waiting(self, setting: str, exercises: Sequence[str]) -> Iterator[Task]:
        """The tasks without a good verdict in `setting`, students in alphabetical order.

        Each content comes once, however many students handed it in.
        """
        contents = [
            content
            for content, exercise in self._db.execute(
                f"{_WAITING} ORDER BY min(student)", {"setting": setting}
            )
            if exercise in exercises
        ]
        for content in contents:
            (task,) = self._db.execute(
                "SELECT task FROM contents WHERE content = ?", (content,)
            ).fetchone()
            yield msgspec.msgpack.decode(task, type=Task)

    def waiting_by_student(self, setting: str) -> Counter[str]:
        """How many different tasks of each student have no good verdict in `setting`."""
        rows = self._db.execute(
            "SELECT student, count(DISTINCT waiting.content) FROM submissions"
            " JOIN parts ON submission = id"
            f" JOIN ({_WAITING}) AS waiting ON waiting.content = parts.content GROUP BY student",
            {"setting": setting},
        )
        return Counter(dict(rows))

    def students_of(self, content: str) -> list[str]:
        """Who handed in this content."""
        rows = self._db.execute(
            "SELECT DISTINCT student FROM submissions JOIN parts ON submission = id"
            " WHERE content = ? ORDER BY student",
            (content,),
        )
        return [student for (student,) in rows]

    def marks(self, student: str, setting: str, which: Which = "latest") -> Marks:
        """The latest submission of a student, or the best one (of equal ones the latest)."""
        handed = self.submissions(student)
        if which == "latest":
            return self._marks(handed[0], setting)
        return max((self._marks(one, setting) for one in handed), key=lambda m: m.report.points)

    def _marks(self, submission: Handed, setting: str) -> Marks:
        contents: dict[str, str] = dict(
            self._db.execute(
                "SELECT exercise, content FROM parts WHERE submission = ?", (submission.id,)
            )
        )
        results: dict[str, ExerciseResult] = {}
        environment = dict.fromkeys(("jax", "backend", "device", "python", "sandbox"), "")
        outdated = []
        for exercise in self._exercises:
            row = self._db.execute(
                "SELECT setting, environment, result FROM verdicts WHERE content = ?"
                " ORDER BY graded DESC, setting = ? DESC, made DESC LIMIT 1",
                (contents.get(exercise), setting),
            ).fetchone()
            if row is None:
                reason = submission.unreadable or "It was not graded yet."
                results[exercise] = ungraded(exercise, reason)
                continue
            made_in, made_with, result = row
            results[exercise] = msgspec.msgpack.decode(result, type=ExerciseResult)
            if made_in != setting:
                outdated.append(exercise)
            if not environment["jax"]:  # where no module was run nothing asked JAX
                environment |= json.loads(made_with)
        report = Report(
            submission=submission.student,
            points=sum(result.points for result in results.values()),
            max_points=sum(result.max_points for result in results.values()),
            environment=environment,
            exercises=results,
        )
        return Marks(submission, report, tuple(outdated))

    def identical(self) -> list[tuple[str, str, list[str]]]:
        """Exercises, contents and those students whose latest submissions share one."""
        latest = (
            "SELECT id FROM (SELECT id, row_number() OVER"
            " (PARTITION BY student ORDER BY scan DESC, handed_in DESC, id DESC) AS rank"
            " FROM submissions) WHERE rank = 1"
        )
        rows = self._db.execute(
            "SELECT exercise, content, json_group_array(student) FROM parts"
            f" JOIN submissions ON submission = id WHERE id IN ({latest})"
            " GROUP BY content HAVING count(*) > 1 ORDER BY count(*) DESC, min(student)"
        )
        return [
            (exercise, content, sorted(json.loads(students)))
            for exercise, content, students in rows
        ]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


_WAITING = """
    SELECT parts.content, exercise FROM parts JOIN submissions ON submission = id
    WHERE NOT EXISTS (SELECT 1 FROM verdicts WHERE verdicts.content = parts.content
                      AND setting = :setting AND graded)
    GROUP BY parts.content
"""


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Says what is wrong with a journal in one line."""
    try:
        yield
    except sqlite3.Error as error:
        if isinstance(error, sqlite3.ProgrammingError):
            raise  # a bug of ours
        raise JournalError(
            f"{path} cannot be used ({error}); free the disk or mend its permissions, "
            "then go on with --resume."
        ) from error


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Holds a folder for this process; the lock goes with the process, however it ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise JournalError(
            f"{printable(folder)} cannot be written ({error.strerror}); choose another --out."
        ) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JournalError(
                f"another batch is grading into {printable(folder)}; wait for its end."
            ) from error
        yield
    finally:
        os.close(handle)


def _handed(row: tuple[int, str, str, float, str, str]) -> Handed:
    id_, student, source, handed_in, unreadable, notes = row
    when = datetime.fromtimestamp(handed_in, UTC)
    return Handed(id_, student, source, when, unreadable, tuple(json.loads(notes)))
