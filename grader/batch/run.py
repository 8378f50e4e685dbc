"""One batch, from what was handed in to marks, feedback and summaries."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from grader import exercises as course
from grader.batch import reach, tasks
from grader.batch.engine import grade_all, prove
from grader.batch.executors import Executor, ExecutorError, LocalExecutor
from grader.batch.inputs import Entry, Inbox
from grader.batch.journal import Journal, JournalError, Which
from grader.batch.publish import Line, Publisher
from grader.batch.worker import Settings
from grader.ingest import IngestError
from grader.sandbox import Mode, SandboxUnavailable, choose
from grader.sandbox.choice import accelerated


class BatchError(Exception):
    """Nothing, or nothing more, can be graded; the message is one line that names the next step."""


class Watcher:
    """Is told how a batch goes; this one says nothing."""

    def note(self, text: str) -> None:
        """Something worth a line, such as a submission that cannot be read."""

    def begin(self, waiting: int) -> None:
        """So many different modules wait to be graded."""

    def step(self) -> None:
        """One of them is graded."""


def run(
    submitted: Path,
    out: Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    resume: bool = False,
    sandbox: Mode = "required",
    which: Which = "latest",
    watcher: Watcher | None = None,
    grader: str = "grader.grading:Grader",
) -> list[Line]:
    """Grades what lies below `submitted` into `out`; returns a line on each student.

    Args:
      submitted: a folder or zip of submissions, see `grader.batch.inputs`.
      out: gets the journal, `summary.csv`, `summary.html`, and for each student a results file and
        a page of feedback.
      workers: how many submissions at a time; None: one a core, or one on a GPU.
      scheduler: grades on a cluster, see `grader.batch.cluster`.
      resume: goes on with what `out` holds.
      sandbox: what students' code is confined in.
      which: the submission of a student that counts.
      watcher: is told how it goes.
      grader: the class that grades.

    Raises:
      BatchError: nothing, or nothing more, can be graded.
    """
    watcher = watcher or Watcher()
    exercises = list(course.catalogue())
    settings = Settings(
        run=secrets.token_hex(8), sandbox=sandbox, rules=tasks.rules(), grader=grader
    )
    with _explained(), ExitStack() as stack:
        inbox = stack.enter_context(Inbox(submitted, exercises, besides=out))
        journal = stack.enter_context(Journal(out, exercises, resume=resume))
        if not scheduler:
            for warning in choose(sandbox).warnings:
                watcher.note(f"Warning: {warning}")
        executor = _executor(workers, scheduler, settings)
        stack.callback(executor.close)
        for note in inbox.notes:
            watcher.note(note)
        _file(inbox.entries, journal, exercises, watcher)
        setting = tasks.setting(prove(executor, exercises))
        publisher = Publisher(out, journal, setting, which)
        _grade(executor, journal, setting, exercises, publisher, watcher)
        return publisher.finish()


def _executor(workers: int | None, scheduler: str | None, settings: Settings) -> Executor:
    if scheduler:
        from grader.batch.cluster import DaskExecutor

        return DaskExecutor(scheduler, workers, settings)
    return LocalExecutor(workers or default_workers(settings.sandbox), settings)


def default_workers(sandbox: Mode) -> int:
    """One a core; one where submissions get at an accelerator, which is not to be shared."""
    if sandbox != "required" and accelerated():
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _file(entries: list[Entry], journal: Journal, exercises: list[str], watcher: Watcher) -> None:
    """Reads what was handed in and files it in the journal."""
    journal.begin_scan()
    for entry in entries:
        try:
            submission = entry.read(exercises)
        except IngestError as error:
            watcher.note(f"{entry.student}: {error}")
            journal.add(entry.student, entry.source, entry.handed_in, [], unreadable=str(error))
            continue
        if not submission.modules and not submission.problems:
            watcher.note(f"{entry.student}: none of the modules is in {entry.source}")
        for problem in submission.problems.values():
            watcher.note(f"{entry.student}: {problem}")
        parts = tasks.tasks(submission, exercises)
        notes = (*submission.notes, *reach.remarks(submission.modules))
        journal.add(entry.student, entry.source, entry.handed_in, parts, notes=notes)


def _grade(
    executor: Executor,
    journal: Journal,
    setting: str,
    exercises: list[str],
    publisher: Publisher,
    watcher: Watcher,
) -> None:
    """Grades what the journal has no verdict on, and publishes each student who is complete."""
    timing = [name for name in exercises if course.is_timing(name)]
    others = [name for name in exercises if name not in timing]
    left = journal.waiting_by_student(setting)
    watcher.begin(journal.count_waiting(setting))
    verdicts = grade_all(
        executor, journal.waiting(setting, others), journal.waiting(setting, timing)
    )
    for verdict in verdicts:
        journal.record(verdict, setting)
        watcher.step()
        for student in journal.students_of(verdict.content):
            left[student] -= 1
            if not left[student]:
                publisher.publish(student)


@contextmanager
def _explained() -> Iterator[None]:
    """Whatever ends a batch becomes one line."""
    try:
        yield
    except (IngestError, JournalError, ExecutorError, SandboxUnavailable) as error:
        raise BatchError(str(error)) from error
    except OSError as error:
        raise BatchError(
            f"{error.filename or 'the batch'}: {error.strerror or error}; "
            "mend that, then go on with --resume"
        ) from error
