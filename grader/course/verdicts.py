"""Verdicts for nbgrader: those of the batch, and where it has none, made on the spot."""

from __future__ import annotations

import atexit
import json
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
from traitlets import Enum, Unicode
from traitlets.config import LoggingConfigurable

from grader import exercises as course
from grader.batch import tasks
from grader.batch.engine import STRIKES
from grader.batch.journal import FILE, Journal, JournalError
from grader.batch.tasks import Task, Unfit, Verdict
from grader.batch.worker import Child, Settings, WorkerLost
from grader.ingest import Submission
from grader.report.model import ExerciseResult
from grader.sandbox import Mode

_MODES: list[Mode] = ["required", "auto", "off"]

_children: dict[tuple[str, str], Child] = {}
"""The grading process for each way to grade; it stays warm, as formgrader's server does."""


class Verdicts(LoggingConfigurable):
    """Looks verdicts up in the batch's journal by the content of the modules.

    One that is missing, or was made by another version of the tests, is made now and recorded.
    """

    folder = Unicode("graded", help="The batch's --out, relative to the course.").tag(config=True)
    sandbox: Enum[Mode] = Enum(_MODES, _MODES[0], help="What students' code is confined in.").tag(
        config=True
    )
    grader = Unicode("grader.grading:Grader", help="The class that grades.").tag(config=True)

    def of(self, submission: Submission, exercise: str, root: Path) -> Verdict:
        """The verdict on one exercise; it is ungraded where the grader or the machine fails."""
        (task,) = tasks.tasks(submission, [exercise])
        folder = root / self.folder
        if (known := recorded(folder, task)) is not None:
            return known
        self.log.info("Grading %s of %s", exercise, submission.name)
        verdict = self._grade(task)
        self._record(folder, verdict)
        return verdict

    def _grade(self, task: Task) -> Verdict:
        reason = ""
        for _ in range(STRIKES):
            try:
                answer = self._child().ask(task)
            except (WorkerLost, OSError) as error:
                reason = str(error)
                self._drop_child()
                continue
            if isinstance(answer, Verdict) and answer.graded:
                return answer
            if isinstance(answer, Verdict):
                reason = next(i.message for i in answer.result.items if i.outcome == "ungraded")
                continue
            reason = answer.reason
            if isinstance(answer, Unfit):
                break
        self.log.error("%s was not graded: %s", task.exercise, reason)
        return not_graded(task.content, task.exercise, reason)

    def _child(self) -> Child:
        way = self.sandbox, self.grader
        if way not in _children:
            _children[way] = Child(
                Settings(
                    run=secrets.token_hex(8),
                    sandbox=self.sandbox,
                    rules=tasks.rules(),
                    grader=self.grader,
                )
            )
        return _children[way]

    def _drop_child(self) -> None:
        if child := _children.pop((self.sandbox, self.grader), None):
            child.close()

    def _record(self, folder: Path, verdict: Verdict) -> None:
        """Keeps a verdict, unless a batch is running: it will come to it by itself."""
        try:
            with Journal(folder, list(course.catalogue()), resume=True) as journal:
                journal.record(verdict, tasks.setting(verdict.environment))
        except JournalError as error:
            self.log.warning("A verdict was not recorded: %s", error)


def not_graded(content: str, exercise: str, reason: str) -> Verdict:
    """What is said of an exercise that could not be graded; it becomes no mark."""
    return Verdict(
        content=content,
        exercise=exercise,
        result=tasks.ungraded(exercise, reason),
        environment=dict.fromkeys(("jax", "backend", "device", "python", "sandbox"), ""),
    )


def recorded(folder: Path, task: Task) -> Verdict | None:
    """The newest verdict that the journal in `folder` has on a task by today's rules."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        # Only to read, so that a batch that is running, and holds the journal, is no hindrance.
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
            rows = db.execute(
                "SELECT setting, environment, result FROM verdicts"
                " WHERE content = ? AND graded ORDER BY made DESC",
                (task.content,),
            ).fetchall()
            for setting, environment, result in rows:
                if _is_current(db, setting):
                    return Verdict(
                        content=task.content,
                        exercise=task.exercise,
                        result=msgspec.msgpack.decode(result, type=ExerciseResult),
                        environment=json.loads(environment),
                    )
    except sqlite3.Error:
        return None
    return None


_current: set[str] = set()


def _is_current(db: sqlite3.Connection, setting: str) -> bool:
    """Whether a setting is one of today's rules.

    A setting is a digest of rules and environment. Modules that never ran (missing ones) left no
    environment of their own, so it takes any verdict of the same setting that did.
    """
    if setting not in _current:
        environments = db.execute(
            "SELECT environment FROM verdicts WHERE setting = ? ORDER BY length(environment) DESC"
            " LIMIT 20",
            (setting,),
        )
        if any(tasks.setting(json.loads(text)) == setting for (text,) in environments):
            _current.add(setting)
    return setting in _current


@atexit.register
def _close_children() -> None:
    for child in _children.values():
        child.close()
    _children.clear()
