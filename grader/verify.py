"""Proves the kit: stubs fail quickly, solutions get everything, the zoo gets its verdicts."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from grader import exercises as course
from grader import kit
from grader.exercises import POINTS, Exercise, GradedTest
from grader.grading import Grader, shared_grader
from grader.ingest import Submission
from grader.report.model import KNOWN_MISTAKE, Report

STUB_SHARE = 0.7
"""Longest elapsed time of all stubs, as a share of that of the solutions."""
HINTS = 3


def verify_kit(root: Path, exercises: Sequence[str], console: Console) -> list[str]:
    """What is wrong with the exercises, their items, their stubs and their solutions."""
    problems = [
        f"exercises/{name} is not what its solution generates" for name in kit.stub_drift(root)
    ]
    for name in exercises:
        tests = course.graded_tests(name, root)
        problems += declared_problems(name, course.catalogue(root)[name], tests)
    seconds = {}
    with Grader("auto") as grader:
        for folder, expected in (("exercises", "nothing"), ("solutions", "all")):
            with console.status(f"Grading {folder}", spinner="line"):
                report = grader.grade(root / folder, exercises=exercises)
            console.print(f"{folder}: {report.points:g} of {report.max_points:g}", highlight=False)
            problems += list(_graded_problems(report, folder, expected))
            seconds[folder] = sum(result.seconds for result in report.exercises.values())
    if seconds["exercises"] > STUB_SHARE * seconds["solutions"]:
        problems.append(
            "the stubs take {exercises:.1f} s, the solutions {solutions:.1f} s: a stub"
            " should fail at once".format(**seconds)
        )
    return problems


def declared_problems(name: str, exercise: Exercise, tests: Sequence[GradedTest]) -> list[str]:
    """What is wrong with what an exercise and its items declare."""
    problems = [f"{name}: {test.name} has no title" for test in tests if not test.item.title]
    problems += [f"{name}: {test.name} has no hint" for test in tests if not test.item.hint]
    problems += [f"{name}: {test.name} is worth nothing" for test in tests if test.item.points <= 0]
    total = sum(test.item.points for test in tests) + sum(exercise.manual.values())
    if abs(total - POINTS) > 1e-9 and any(test.hidden for test in tests):
        problems.append(f"{name}: the points add up to {total:g}, not to {POINTS:g}")
    found = [test.name for test in tests]
    problems += [f"{name}: two items are called {n}" for n in set(found) if found.count(n) > 1]
    if len(exercise.hints) < HINTS:
        problems.append(f"{name}: {len(exercise.hints)} hints; {HINTS} are wanted")
    return problems


def _graded_problems(report: Report, folder: str, expected: str) -> Iterator[str]:
    for name, result in report.exercises.items():
        for item in result.items:
            passed = item.outcome == "passed"
            if item.outcome == "ungraded" or passed == (expected == "nothing"):
                told = item.detail or item.message
                yield f"{folder}/{name}.py: {item.name} {item.outcome}: {told}"


@dataclass(frozen=True)
class Specimen:
    """A module of the zoo and the verdict that its first lines declare."""

    path: Path
    exercise: str
    right: bool
    loses: frozenset[str] = frozenset()
    keeps: frozenset[str] | None = field(default=frozenset())
    """None: all that it does not lose."""
    named: str | None = None


def specimens(root: Path, exercises: Sequence[str] | None = None) -> list[Specimen]:
    """The zoo's modules, those of `exercises` or all."""
    found = []
    for path in sorted((root / "tests" / "zoo").glob("*/*/*.py")):
        exercise, kind = path.parent.parent.name, path.parent.name
        if kind in ("right", "wrong") and (not exercises or exercise in exercises):
            found.append(_specimen(path, exercise, kind == "right"))
    return found


def _specimen(path: Path, exercise: str, right: bool) -> Specimen:
    """Reads the header: `# loses: a, b`, `# keeps: c` or `# keeps: the rest`, `# named: id`."""
    text = path.read_bytes()[:6000].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    comments = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())
    said: dict[str, str] = {}
    word = ""
    for line in comments:
        word = match[1] if (match := re.match(r"#\s*(\w+):", line)) else word
        said[word] = f"{said.get(word, '')} {line.lstrip('# ').removeprefix(f'{word}:').strip()}"

    def tests(name: str) -> frozenset[str]:
        return frozenset(re.findall(r"test_\w+", said.get(name, "")))

    keeps = None if "the rest" in said.get("keeps", "") else tests("keeps")
    return Specimen(
        path, exercise, right, tests("loses"), keeps, said.get("named", "").strip() or None
    )


@dataclass(frozen=True)
class Finding:
    """How a specimen fared: whether it is accepted as it should be, and what else is off."""

    specimen: Specimen
    as_expected: bool
    items_as_declared: int
    items: int
    problems: tuple[str, ...]


def judge(specimen: Specimen, report: Report) -> Finding:
    """Compares the verdict on a specimen with what it declares."""
    items = report.exercises[specimen.exercise].items
    passed = {item.name for item in items if item.outcome == "passed"}
    known = {item.name for item in items}
    loses = specimen.loses & known
    keeps = known - loses if specimen.keeps is None or specimen.right else specimen.keeps & known
    wrong = sorted((loses & passed) | (keeps - passed))
    name = f"{specimen.exercise}/{specimen.path.parent.name}/{specimen.path.name}"
    problems = [
        f"{name} names the unknown {n}"
        for n in sorted((specimen.loses | (specimen.keeps or frozenset())) - known)
    ]
    by_name = {item.name: item for item in items}
    for test in wrong:
        found = by_name[test]
        told = f"{found.message} {found.detail}"[:600]
        problems.append(
            f"{name}: {test} should have {'failed' if test in loses else 'passed'}: {told}"
        )
    problems += [
        f"{name}: {item.name} is ungraded: {item.detail}"
        for item in items
        if item.outcome == "ungraded"
    ]
    if specimen.named and not any(f"{KNOWN_MISTAKE}{specimen.named}\n" in i.detail for i in items):
        problems.append(f"{name}: no message names the mistake {specimen.named}")
    accepted = passed == known
    if accepted != specimen.right:
        problems.append(f"{name} is {'accepted' if accepted else 'rejected'}")
    declared = len(loses) + len(keeps)
    return Finding(
        specimen, accepted == specimen.right, declared - len(wrong), declared, tuple(problems)
    )


def verify_zoo(
    root: Path,
    exercises: Sequence[str] | None,
    sample: int | None,
    workers: int | None,
    console: Console,
) -> list[str]:
    """Grades the zoo and prints its figures; returns what is not as declared."""
    chosen = specimens(root, exercises)
    if sample is not None:  # by digest of the name: new modules change it little
        chosen = sorted(chosen, key=lambda one: _digest(one.path, root))[:sample]
    findings: list[Finding] = []
    processes = workers or os.cpu_count() or 1
    with (
        Progress(console=console, transient=True) as progress,
        ProcessPoolExecutor(processes, get_context("spawn")) as pool,
    ):
        task = progress.add_task("Zoo", total=len(chosen))
        for future in as_completed([pool.submit(_grade_specimen, one) for one in chosen]):
            findings.append(future.result())
            progress.advance(task)
    right = [f for f in findings if f.specimen.right]
    wrong = [f for f in findings if not f.specimen.right]
    console.print(
        f"zoo: {sum(f.as_expected for f in right)} of {len(right)} right ones accepted,"
        f" {sum(f.as_expected for f in wrong)} of {len(wrong)} wrong ones caught,"
        f" {sum(f.items_as_declared for f in findings)} of {sum(f.items for f in findings)}"
        " items as declared",
        highlight=False,
    )
    return sorted(problem for finding in findings for problem in finding.problems)


def _digest(path: Path, root: Path) -> bytes:
    return hashlib.sha256(path.relative_to(root).as_posix().encode()).digest()


def _grade_specimen(specimen: Specimen) -> Finding:
    submission = Submission(specimen.path.stem, {specimen.exercise: specimen.path.read_bytes()})
    report = shared_grader().grade(submission, exercises=[specimen.exercise])
    return judge(specimen, report)
