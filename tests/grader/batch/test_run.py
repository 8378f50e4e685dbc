"""A whole batch: what comes out, what is graded again, and what survives."""

from __future__ import annotations

import csv
import html
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import exercises as course
from grader.batch import run as module
from grader.batch import tasks
from grader.batch.journal import FILE
from grader.batch.run import BatchError, Watcher, run
from grader.batch.tasks import Answer, Task, Verdict
from grader.batch.worker import Settings
from grader.exercises import ROOT
from grader.ingest import Submission
from grader.sandbox import Mode
from tests.grader.batch import fake

NAMES = tuple(course.catalogue())
MOST = sum(test.item.points for name in NAMES for test in course.graded_tests(name))


class InProcess:
    """Grades in this process, with the fake grader."""

    workers = 2
    timing = 1
    environment: dict[str, str] = {}  # noqa: RUF012 (a test changes it for all)

    def __init__(self) -> None:
        self.graded: list[str] = []
        self._queue: deque[Task] = deque()

    def submit(self, task: Task) -> None:
        self._queue.append(task)

    def next(self) -> Answer:
        task = self._queue.popleft()
        if not task.is_canary:
            self.graded.append(task.exercise)
        modules = {task.exercise: b"right"} if task.is_canary else task.modules
        report = fake.Grader("off").grade(
            Submission("", modules, task.problems), exercises=[task.exercise]
        )
        return Verdict(
            content=task.content,
            exercise=task.exercise,
            result=report.exercises[task.exercise],
            environment=report.environment | self.environment,
        )

    def excludes(self, answer: object) -> bool:
        return False

    def close(self) -> None:
        pass


class Notes(Watcher):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.waiting = self.steps = 0

    def note(self, text: str) -> None:
        self.notes.append(text)

    def begin(self, waiting: int) -> None:
        self.waiting = waiting

    def step(self) -> None:
        self.steps += 1


@pytest.fixture
def executors(monkeypatch: pytest.MonkeyPatch) -> list[InProcess]:
    """The executors of the batches of a test, in the order in which they ran."""
    made: list[InProcess] = []

    def make(workers: int | None, scheduler: str | None, settings: Settings) -> InProcess:
        made.append(InProcess())
        return made[-1]

    monkeypatch.setattr(module, "_executor", make)
    return made


def hand_in(folder: Path, student: str, source: str | dict[str, str] = "right") -> None:
    """One source for all modules, or one for each of some."""
    modules = dict.fromkeys(NAMES, source) if isinstance(source, str) else source
    (folder / student).mkdir(parents=True, exist_ok=True)
    for name, text in modules.items():
        (folder / student / f"{name}.py").write_text(text)


@pytest.fixture
def submitted(tmp_path: Path) -> Path:
    folder = tmp_path / "submitted"
    hand_in(folder, "ann", "right")
    hand_in(folder, "bob", "wrong")
    hand_in(folder, "cy", {"dropout": "half"})
    return folder


def rows(out: Path) -> dict[str, dict[str, str]]:
    with open(out / "summary.csv", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.mark.usefixtures("executors")
class TestWhatComesOut:
    def test_the_table(self, submitted: Path, tmp_path: Path) -> None:
        run(submitted, tmp_path / "out", sandbox="off")

        table = rows(tmp_path / "out")
        assert list(table) == ["ann", "bob", "cy"]
        assert list(table["ann"])[:3] == ["student", "points", "max_points"]
        assert table["ann"]["points"] == table["ann"]["max_points"] == f"{MOST:g}"
        assert table["bob"]["points"] == "0"
        tests = [test for name in NAMES for test in course.graded_tests(name)]
        assert len(table["ann"]) == 3 + len(tests)
        first = tests[0]
        assert table["ann"][f"{first.exercise}/visible/{first.name}"] == f"{first.item.points:g}"

    def test_a_line_a_student(self, submitted: Path, tmp_path: Path) -> None:
        lines = run(submitted, tmp_path / "out", sandbox="off")

        assert [(line.student, line.points, line.graded) for line in lines[:2]] == [
            ("ann", MOST, True),
            ("bob", 0, True),
        ]

    def test_a_results_file_a_student(self, submitted: Path, tmp_path: Path) -> None:
        run(submitted, tmp_path / "out", sandbox="off")

        result = json.loads((tmp_path / "out" / "results" / "cy.json").read_bytes())
        assert result["schema"] == 1
        assert result["submission"] == "cy"
        assert list(result["exercises"]) == list(NAMES)
        assert 0 < result["points"] == result["exercises"]["dropout"]["points"] < 20

    def test_feedback_a_student(self, submitted: Path, tmp_path: Path) -> None:
        run(submitted, tmp_path / "out", sandbox="off")

        pages = sorted(path.name for path in (tmp_path / "out" / "feedback").iterdir())
        assert pages == ["ann.html", "bob.html", "cy.html"]

    def test_the_summary(self, submitted: Path, tmp_path: Path) -> None:
        hand_in(submitted, "dee", {"clipping": "wrong", "dropout": "ungraded <i>"})
        hand_in(submitted, "eve", {"clipping": "right"})
        (submitted / "fay.zip").write_bytes(b"no zip")
        run(submitted, tmp_path / "out", sandbox="off")

        page = (tmp_path / "out" / "summary.html").read_text()
        assert "Summary of 6 submissions" in page
        assert "2 could not be graded" in page
        assert "off-by-one: it gives …, which is wrong &lt;b&gt;here&lt;/b&gt;" in page
        assert "<li>bob, dee</li>" in page  # the same clipping.py
        assert "<li>ann, eve</li>" in page
        assert "cy, dee, eve" not in page  # who lack a module have not copied it
        assert 'role="img" aria-labelledby=' in page
        assert "Histogram of 4 students' marks" in html.unescape(page)

    def test_names_cannot_leave_the_folder_or_become_formulas(self, tmp_path: Path) -> None:
        for name in ("=cmd()", "a..", "ann:b*c", "é" * 120):
            hand_in(tmp_path / "submitted", name)
        run(tmp_path / "submitted", tmp_path / "out", sandbox="off")

        results = list((tmp_path / "out" / "results").iterdir())
        assert len(results) == 4
        assert not any(path.name.startswith(".") for path in results)
        assert "'=cmd()" in rows(tmp_path / "out")


class TestWhatIsGraded:
    def test_equal_modules_once(
        self, executors: list[InProcess], submitted: Path, tmp_path: Path
    ) -> None:
        for number in range(50):
            hand_in(submitted, f"copy {number}", "right")
        run(submitted, tmp_path / "out", sandbox="off")

        # right, wrong, and: half for dropout, missing for the others
        assert Counter(executors[0].graded) == dict.fromkeys(NAMES, 3)
        assert rows(tmp_path / "out")["copy 49"]["points"] == f"{MOST:g}"

    def test_nothing_twice(
        self, executors: list[InProcess], submitted: Path, tmp_path: Path
    ) -> None:
        run(submitted, tmp_path / "out", sandbox="off")
        before = (tmp_path / "out" / "summary.csv").read_bytes()
        run(submitted, tmp_path / "out", sandbox="off", resume=True)

        assert executors[1].graded == []
        assert (tmp_path / "out" / "summary.csv").read_bytes() == before

    def test_a_changed_module_alone(
        self, executors: list[InProcess], submitted: Path, tmp_path: Path
    ) -> None:
        run(submitted, tmp_path / "out", sandbox="off")
        hand_in(submitted, "bob", {"clipping": "half"})
        run(submitted, tmp_path / "out", sandbox="off", resume=True)

        assert executors[1].graded == ["clipping"]
        assert float(rows(tmp_path / "out")["bob"]["points"]) > 0

    def test_a_module_with_another_that_it_imports(
        self, executors: list[InProcess], tmp_path: Path
    ) -> None:
        source = {
            "clipping": "right\nimport generic_mlp",
            "generic_mlp": "right",
            "dropout": "right",
        }
        hand_in(tmp_path / "submitted", "ann", source)
        run(tmp_path / "submitted", tmp_path / "out", sandbox="off")
        hand_in(tmp_path / "submitted", "ann", {"generic_mlp": "half"})
        run(tmp_path / "submitted", tmp_path / "out", sandbox="off", resume=True)

        assert sorted(executors[1].graded) == ["clipping", "generic_mlp"]

    @pytest.mark.parametrize("change", ["tests", "environment"])
    def test_everything_after_a_change_of(
        self,
        executors: list[InProcess],
        submitted: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        change: str,
    ) -> None:
        run(submitted, tmp_path / "out", sandbox="off")
        if change == "tests":
            monkeypatch.setattr(tasks, "rules", lambda: "others")
        else:
            monkeypatch.setattr(InProcess, "environment", {"jax": "99"})
        run(submitted, tmp_path / "out", sandbox="off", resume=True)

        assert executors[1].graded
        assert sorted(executors[0].graded) == sorted(executors[1].graded)

    def test_the_latest_or_the_best_counts(
        self, executors: list[InProcess], submitted: Path, tmp_path: Path
    ) -> None:
        run(submitted, tmp_path / "out", sandbox="off")
        hand_in(submitted, "ann", "wrong")

        run(submitted, tmp_path / "out", sandbox="off", resume=True)
        assert rows(tmp_path / "out")["ann"]["points"] == "0"
        run(submitted, tmp_path / "out", sandbox="off", resume=True, which="best")
        assert rows(tmp_path / "out")["ann"]["points"] == f"{MOST:g}"
        assert executors[1].graded == executors[2].graded == []

    def test_steps_are_counted(
        self, executors: list[InProcess], submitted: Path, tmp_path: Path
    ) -> None:
        notes = Notes()
        run(submitted, tmp_path / "out", sandbox="off", watcher=notes)

        assert notes.waiting == notes.steps == len(executors[0].graded)


@pytest.mark.usefixtures("executors")
class TestUngraded:
    def test_is_empty_not_zero_and_the_rest_is_graded(
        self, submitted: Path, tmp_path: Path
    ) -> None:
        hand_in(submitted, "dee", {"clipping": "right", "dropout": "ungraded"})
        lines = run(submitted, tmp_path / "out", sandbox="off")

        assert {line.student: line.graded for line in lines} == {
            "ann": True,
            "bob": True,
            "cy": True,
            "dee": False,
        }
        row = rows(tmp_path / "out")["dee"]
        assert row["points"] == ""
        assert {row[name] for name in row if name.startswith("dropout/")} == {""}
        assert "" not in {row[name] for name in row if name.startswith("clipping/")}

    def test_a_zip_that_cannot_be_read_is_told_and_never_a_zero(
        self, submitted: Path, tmp_path: Path
    ) -> None:
        (submitted / "eve.zip").write_bytes(b"no zip")
        notes = Notes()
        lines = run(submitted, tmp_path / "out", sandbox="off", watcher=notes)

        assert "eve: eve.zip is not a zip that can be read" in notes.notes
        assert not lines[-1].graded
        assert rows(tmp_path / "out")["eve"]["points"] == ""

    def test_a_refused_module_is_told(self, submitted: Path, tmp_path: Path) -> None:
        (submitted / "cy" / "clipping.py").symlink_to("/etc/passwd")
        notes = Notes()
        run(submitted, tmp_path / "out", sandbox="off", watcher=notes)

        assert "cy: clipping.py is a link; hand in the file itself" in notes.notes


@pytest.mark.usefixtures("executors")
class TestNothingCanBeDone:
    @pytest.mark.parametrize(
        ("prepare", "message"),
        [
            (lambda path: None, "does not exist"),
            (lambda path: path.mkdir(), "holds no submissions"),
        ],
    )
    def test_without_submissions(
        self, tmp_path: Path, prepare: Callable[[Path], None], message: str
    ) -> None:
        prepare(tmp_path / "submitted")

        with pytest.raises(BatchError, match=message):
            run(tmp_path / "submitted", tmp_path / "out", sandbox="off")
        assert not (tmp_path / "out").exists()

    def test_in_a_folder_of_another_batch(self, submitted: Path, tmp_path: Path) -> None:
        run(submitted, tmp_path / "out", sandbox="off")

        with pytest.raises(BatchError, match="--resume"):
            run(submitted, tmp_path / "out", sandbox="off")

    def test_where_nothing_can_be_written(self, submitted: Path) -> None:
        with pytest.raises(BatchError, match="choose another --out"):
            run(submitted, Path("/proc/out"), sandbox="off")


@pytest.mark.parametrize(
    ("sandbox", "accelerated", "expected"),
    [("required", True, None), ("auto", True, 1), ("off", True, 1), ("off", False, None)],
)
def test_one_worker_a_core_but_one_on_an_accelerator(
    monkeypatch: pytest.MonkeyPatch, sandbox: Mode, accelerated: bool, expected: int | None
) -> None:
    monkeypatch.setattr(module, "accelerated", lambda: accelerated)

    assert module.default_workers(sandbox) == (expected or len(os.sched_getaffinity(0)))


SCRIPT = """
import sys
from pathlib import Path
from grader.batch.run import BatchError, run
try:
    run(Path(sys.argv[1]), Path(sys.argv[2]), workers=2, resume=True, sandbox="off",
        grader="tests.grader.batch.fake:Grader")
except BatchError as error:
    sys.exit(f"jaxlings: {error}")
"""


@pytest.fixture
def batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.Popen[str]]:
    """Starts a batch of real processes with the fake grader."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv(fake.LOG, str(tmp_path / "log"))

    def start(submitted: Path, out: Path, *prefix: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*prefix, sys.executable, "-c", SCRIPT, str(submitted), str(out)],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def results(out: Path) -> dict[str, object]:
    """All that a batch says of students, but for what differs from run to run."""
    found: dict[str, object] = {"summary": (out / "summary.csv").read_text()}
    for path in sorted((out / "results").iterdir()):
        found[path.name] = json.loads(path.read_bytes()) | {"environment": None}
    return found


class TestKilled:
    @pytest.mark.slow
    def test_at_any_moment_and_resumed_it_ends_the_same(
        self, tmp_path: Path, batch: Callable[..., subprocess.Popen[str]]
    ) -> None:
        rng = random.Random(0)
        submitted = tmp_path / "submitted"
        for number in range(60):
            word = rng.choice(["right", "wrong", "half"])
            hand_in(submitted, f"student {number}", f"sleep 0.01 {word} {number % 50}")
        assert batch(submitted, tmp_path / "whole").wait() == 0
        whole = len((tmp_path / "log").read_text().splitlines())
        (tmp_path / "log").unlink()

        kills = 0
        while kills < 10:
            process = batch(submitted, tmp_path / "torn")
            time.sleep(rng.uniform(0.5, 3.0))
            if process.poll() is not None:
                break
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
        assert batch(submitted, tmp_path / "torn").wait() == 0

        assert results(tmp_path / "torn") == results(tmp_path / "whole")
        torn = len((tmp_path / "log").read_text().splitlines())
        in_flight = 2 + len(NAMES)  # tasks of two workers, and the reference solution again
        assert torn <= whole + kills * in_flight
        assert not list((tmp_path / "torn").rglob(".*-*"))  # no half-written file

    def test_a_worker_that_crashes_thrice_leaves_its_submission_ungraded(
        self, tmp_path: Path, batch: Callable[..., subprocess.Popen[str]]
    ) -> None:
        hand_in(tmp_path / "submitted", "ann", {"dropout": "crash", "clipping": "right"})
        hand_in(tmp_path / "submitted", "bob", {"dropout": f"crash-once {tmp_path}/seen"})
        hand_in(tmp_path / "submitted", "cy", {"dropout": "half"})
        assert batch(tmp_path / "submitted", tmp_path / "out").wait() == 0

        table = rows(tmp_path / "out")
        assert table["ann"]["points"] == ""
        assert float(table["bob"]["points"]) == 20
        assert 0 < float(table["cy"]["points"]) < 20

    def test_two_at_once_on_one_folder(
        self, tmp_path: Path, batch: Callable[..., subprocess.Popen[str]]
    ) -> None:
        hand_in(tmp_path / "submitted", "ann", "sleep 2")
        first = batch(tmp_path / "submitted", tmp_path / "out")
        while not (tmp_path / "out" / FILE).exists():
            time.sleep(0.05)
        second = batch(tmp_path / "submitted", tmp_path / "out")

        _, said = second.communicate()
        assert second.returncode == 1
        assert said.startswith("jaxlings: another batch is grading into")
        assert first.wait() == 0

    def test_on_a_full_disk_it_says_so_and_goes_on_later(
        self, tmp_path: Path, batch: Callable[..., subprocess.Popen[str]]
    ) -> None:
        for number in range(10):
            hand_in(tmp_path / "submitted", f"student {number}", f"wrong {number}\n{'#' * 4000}")
        (tmp_path / "small").mkdir()
        # A disk of 256 KiB, which only this process and its children see.
        mount = 'mount -t tmpfs -o size=256k none $0 && cd $1 && shift && exec "$@"'
        prefix = ["unshare", "-rm", "sh", "-c", mount, str(tmp_path / "small"), str(ROOT)]
        if subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode:
            pytest.skip("needs user namespaces")
        copy = f"trap 'cp -r {tmp_path}/small {tmp_path}/kept' EXIT; \"$@\""
        process = batch(
            tmp_path / "submitted", tmp_path / "small" / "out", *prefix, "sh", "-c", copy, "sh"
        )
        _, said = process.communicate()

        assert process.returncode == 1
        assert said.startswith("jaxlings: ")
        assert "--resume" in said
        assert said.count("\n") == 1
        assert batch(tmp_path / "submitted", tmp_path / "kept" / "out").wait() == 0
        assert len(rows(tmp_path / "kept" / "out")) == 10


def test_read_only_out_folder(tmp_path: Path, batch: Callable[..., subprocess.Popen[str]]) -> None:
    hand_in(tmp_path / "submitted", "ann", "right")
    assert batch(tmp_path / "submitted", tmp_path / "out").wait() == 0
    before = results(tmp_path / "out")
    mount = 'mount --bind $0 $0 && mount -o remount,bind,ro $0 && cd $1 && shift && exec "$@"'
    prefix = ["unshare", "-rm", "sh", "-c", mount, str(tmp_path / "out"), str(ROOT)]
    if subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode:
        pytest.skip("needs user namespaces")
    process = batch(tmp_path / "submitted", tmp_path / "out", *prefix)
    _, said = process.communicate()

    assert process.returncode == 1
    assert "cannot be written" in said
    assert said.count("\n") == 1
    assert results(tmp_path / "out") == before
    assert os.path.getsize(tmp_path / "out" / FILE)
