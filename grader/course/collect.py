"""Into nbgrader's `submitted/`: out of an LMS's download, or out of the exchange."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.exchange.default.collect import ExchangeCollect
from nbgrader.plugins import ExtractorPlugin

from grader import exercises as course
from grader.batch.inputs import Entry, Inbox
from grader.batch.publish import file_name
from grader.course.complete import complete, complete_all
from grader.ingest import IngestError

SKIPPED = "skipped.txt"
_LMS_TIME = re.compile(r"\d{4}(-\d\d){5}$")


class LmsExtractor(ExtractorPlugin):
    """Reads `downloaded/ASSIGNMENT/archive` as `grader batch` does, one folder a student.

    What cannot be read is passed over, warned of and listed in `skipped.txt` beside the archive;
    the student is in the gradebook all the same. Of several submissions the newest counts.
    """

    def extract(self, archive_path: str, extracted_path: str) -> None:
        coursedir = self.parent.coursedir
        assignment = coursedir.assignment_id
        released = Path(coursedir.format_path(coursedir.release_directory, ".", assignment))
        skipped: dict[str, str] = {}
        try:
            with Inbox(Path(archive_path), list(course.catalogue())) as inbox:
                for note in inbox.notes:
                    self.log.warning(note)
                for entry in _newest(inbox.entries):
                    try:
                        self._extract(entry, Path(extracted_path), released)
                    except IngestError as error:
                        skipped[entry.student] = str(error)
        except IngestError as error:
            self.parent.fail(str(error))
        for student, reason in skipped.items():
            self.log.warning("Skipped %s: %s", student, reason)
        with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
            for student in skipped:
                gradebook.update_or_create_student(file_name(student))
        lines = "".join(f"{student}: {reason}\n" for student, reason in skipped.items())
        (Path(archive_path).parent / SKIPPED).write_text(lines, "utf-8")

    def _extract(self, entry: Entry, to: Path, released: Path) -> None:
        names = list(course.catalogue())
        submission = entry.read(names)
        files = {f"{name}.py": source for name, source in submission.modules.items()}
        for reason in (*submission.problems.values(), *submission.notes):
            self.log.warning("%s: %s", entry.student, reason)
        # Notebooks may lie elsewhere than the modules, which must not decide where those are.
        others = entry.read([path.name for path in sorted(released.glob("*.ipynb"))])
        files |= others.modules
        for reason in (*others.problems.values(), *others.notes):
            if ".ipynb" in reason:
                self.log.warning("%s: %s", entry.student, reason)
        stamp = entry.read(["timestamp.txt"]).modules.get("timestamp.txt")
        if stamp is None and entry.handed_in and _LMS_TIME.search(entry.source):
            # The time of a file is when it was downloaded; only a name tells when it was handed in.
            stamp = f"{entry.handed_in:%Y-%m-%d %H:%M:%S.%f} UTC".encode()
        if stamp is not None:
            files["timestamp.txt"] = stamp
        folder = to / file_name(entry.student)
        folder.mkdir(parents=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        complete(folder, released)


class CompletingCollect(ExchangeCollect):
    """Collects from the exchange, then gives everybody the released notebooks that they lack."""

    def copy_files(self) -> None:
        super().copy_files()
        for path in complete_all(Path(self.coursedir.root), self.coursedir.assignment_id):
            self.log.info("Added the released %s", path)


def _newest(entries: Iterable[Entry]) -> list[Entry]:
    """One entry a student; they come sorted by student, the newest last."""
    newest: dict[str, Any] = {entry.student: entry for entry in entries}
    return list(newest.values())
