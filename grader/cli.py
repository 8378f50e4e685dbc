"""The command line: `python -m grader COMMAND` and `jaxlings COMMAND`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from grader.exercises import ROOT

if TYPE_CHECKING:  # commands import what they need, so that `--help` and errors are quick
    from grader.grading import Grader

app = typer.Typer(
    name="jaxlings",
    help="Grades the exercises of 'Introduction to JAX'.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class SandboxMode(StrEnum):
    """How much confinement a student's code must get."""

    auto = "auto"
    required = "required"
    off = "off"


Chosen = Annotated[
    list[str] | None, typer.Option("-x", "--exercise", help="Only this exercise (repeatable).")
]
_SANDBOX_HELP = "auto: the strongest that works here; required: none is an error."
SandboxOption = Annotated[SandboxMode, typer.Option(help=_SANDBOX_HELP)]
OwnSandboxOption = Annotated[
    SandboxMode | None,
    typer.Option(help=f"{_SANDBOX_HELP} A kit without hidden tests needs none: the code is yours."),
]


@app.command()
def grade(
    directory: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="A folder or zip with the modules.")
    ] = ROOT / "exercises",
    exercise: Chosen = None,
    json: Annotated[Path | None, typer.Option(help="Write the results file here.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page for the student here.")] = None,
    gradescope: Annotated[
        Path | None, typer.Option(help="Write Gradescope's results here.")
    ] = None,
    no_hidden: Annotated[bool, typer.Option("--no-hidden", help="Leave hidden tests out.")] = False,
    sandbox: OwnSandboxOption = None,
    seed: Annotated[int | None, typer.Option(help="Repeat the inputs of an earlier run.")] = None,
) -> None:
    """Grade one submission. Exit status: 0 all points, 1 some lost, 2 could not grade."""
    from grader import exercises as course
    from grader.batch.proof import prove
    from grader.ingest import ingest
    from grader.pages import item_hints, student_page
    from grader.report import terminal
    from grader.report.model import to_json, write_atomically

    console = Console()
    with _failing_plainly(), _grader(sandbox) as grader:
        for warning in grader.warnings if sandbox else ():
            Console(stderr=True).print(f"Warning: {warning}", highlight=False, markup=False)
        chosen = _in_course_order(exercise)
        submission = ingest(directory, list(course.catalogue()))
        if sandbox is SandboxMode.required:
            with console.status("Grading the reference solution", spinner="line"):
                prove(grader, chosen)
        with console.status("Grading", spinner="line") as status:
            report = grader.grade(
                submission,
                exercises=chosen,
                hidden=not no_hidden,
                seed=seed,
                on_item=lambda test, _: status.update(f"{test.exercise}: {test.item.title}"),
            )
        terminal.show(report, course.catalogue(), item_hints(report), console)
        if json:
            write_atomically(json, to_json(report))
        if html:
            with console.status("Drawing pictures", spinner="line"):
                page = student_page(report, submission, grader)
            write_atomically(html, page.encode())
        if gradescope:
            from grader.gradescope import results

            write_atomically(gradescope, results(report, course.catalogue(), item_hints(report)))
    if report.ungraded:
        raise typer.Exit(2)
    raise typer.Exit(0 if report.complete else 1)


@app.command()
def batch(
    submitted: Annotated[
        Path,
        typer.Argument(
            metavar="SUBMITTED_DIR", help="A folder or zip a student, or an LMS bulk download."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Journal, results, feedback and summaries go here.")],
    workers: Annotated[
        int | None, typer.Option(min=1, help="Submissions at a time (one a core, one on a GPU).")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Grade on a Dask cluster: its ADDRESS, or slurm.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what is in --out.")] = False,
    best: Annotated[
        bool, typer.Option("--best", help="Of several submissions, the best counts.")
    ] = False,
    sandbox: SandboxOption = SandboxMode.required,
) -> None:
    """Grade everybody. Exit status: 0 all have a verdict, 2 some could not be graded."""
    from grader.batch import progress
    from grader.batch.run import BatchError, run

    notes = Console(stderr=True)
    try:
        with progress.TerminalWatcher(notes) as watcher:
            lines = run(
                submitted,
                out,
                workers=workers,
                scheduler=scheduler,
                resume=resume,
                sandbox=sandbox.value,
                which="best" if best else "latest",
                watcher=watcher,
            )
    except BatchError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _fail(f"interrupted; go on with: batch {submitted} --out {out} --resume")
    progress.show(lines, Console())
    raise typer.Exit(0 if all(line.graded for line in lines) else 2)


@app.command()
def watch(
    directory: Annotated[Path, typer.Argument(metavar="[DIR]")] = ROOT / "exercises",
    sandbox: OwnSandboxOption = None,
) -> None:
    """Grade an exercise again each time its file is saved."""
    from grader import exercises as course
    from grader.ingest import ingest
    from grader.pages import student_page
    from grader.report.model import write_atomically
    from grader.watch import Watch

    with _failing_plainly(), _grader(sandbox, standing=True) as grader:
        ingest(directory, ())  # says what is wrong with the folder, if anything is

        def write_report() -> Path:
            submission = ingest(directory, list(course.catalogue()))
            report = grader.grade(submission)
            to = ROOT / "build" / "report.html"
            write_atomically(to, student_page(report, submission, grader).encode())
            return to

        Watch(directory, grader, Console()).run(write_report)


@app.command()
def hint(exercise: Annotated[str, typer.Argument(help="The exercise's name.")]) -> None:
    """The next hint on an exercise, one at a time."""
    from grader.hints import next_hint

    with _failing_plainly():
        _in_course_order([exercise])
        found = next_hint(exercise)
    print(f"Hint {found.number} of {found.total}: {found.text}")


@app.command()
def submit(
    directory: Annotated[Path, typer.Argument(metavar="[DIR]")] = ROOT / "exercises",
    out: Annotated[Path, typer.Option(help="The zip.")] = Path("submission.zip"),
) -> None:
    """Write the zip to hand in: the modules, and a manifest with the points you saw."""
    from grader.launch import GraderError
    from grader.submit import pack

    console = Console()
    with _failing_plainly():
        report = None
        try:
            with console.status("Grading once more", spinner="line"), _grader(None) as grader:
                report = grader.grade(directory)
        except GraderError as error:
            console.print(f"Not graded: {error}", markup=False, highlight=False)
        packed = pack(directory, out, report)
    for warning in packed.warnings:
        console.print(f"Warning: {warning}", markup=False, highlight=False)
    seen = f" ({report.points:g} of {report.max_points:g} points seen)" if report else ""
    print(f"Written: {packed.path}{seen}")


@app.command()
def release(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where the kit goes.")],
) -> None:
    """Write the students' kit: no solutions, no hidden tests, checked for leaks."""
    from grader.release import Leak
    from grader.release import release as write

    with _failing_plainly():
        try:
            folder, archive = write(directory)
        except Leak as leak:
            _fail(f"the kit would leak, so it was not written:\n{leak}")
    print(f"Written: {folder} and {archive}")


@app.command()
def course(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where the course goes.")],
) -> None:
    """Write an nbgrader course: configuration, notebooks and stubs, ready to release."""
    from grader.course.generate import generate

    with _failing_plainly():
        source = generate(directory)
    print(f"Written: {source}. Next, in {directory}: nbgrader generate_assignment {source.name}")


@app.command()
def doctor() -> None:
    """Look at what the kit needs on this machine, and say what to do."""
    from grader.doctor import examine

    wrong = False
    for finding in examine():
        wrong |= bool(finding.advice)
        print(f"{'✗' if finding.advice else '✓'} {finding.name}: {finding.found}")
        if finding.advice:
            print(f"    {finding.advice}")
    raise typer.Exit(int(wrong))


@app.command()
def gradescope(
    to: Annotated[Path, typer.Argument(metavar="[FILE]", help="The zip to write.")] = Path(
        "build/autograder.zip"
    ),
    sandbox: Annotated[
        SandboxMode, typer.Option(help="Of the autograder; see grade.")
    ] = SandboxMode.required,
) -> None:
    """Build Gradescope's autograder: grader and tests, no solutions."""
    from grader.gradescope import build

    with _failing_plainly():
        build(to, sandbox=sandbox.value)
    print(f"{to}: upload it under Configure Autograder")


@app.command()
def warm() -> None:
    """Fill the cache that makes grading quick (`make setup` does)."""
    from grader.warm import warm

    with (
        _failing_plainly(),
        Console().status("Compiling what JAX's operations need", spinner="line"),
    ):
        warm()


@app.command()
def stubs(
    check: Annotated[bool, typer.Option("--check", help="Only say which ones differ.")] = False,
) -> None:
    """Write exercises/ anew from solutions/ (for contributors)."""
    from grader import kit

    if not check:
        kit.write_stubs(ROOT)
    elif drift := kit.stub_drift(ROOT):
        _fail(f"not what solutions/ generates: {', '.join(drift)}; run `make stubs`")


@app.command()
def verify(
    exercise: Chosen = None,
    zoo: Annotated[bool, typer.Option("--zoo", help="Grade the zoo of submissions too.")] = False,
    sample: Annotated[
        int | None, typer.Option(help="Of the zoo, a fixed sample of this many modules.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes for the zoo (all cores).")] = None,
) -> None:
    """Prove the kit: stubs score nothing, solutions everything, the zoo gets its verdicts."""
    from grader import verify as proof

    console = Console()
    with _failing_plainly():
        problems = proof.verify_kit(ROOT, _in_course_order(exercise), console)
        if zoo:
            problems += proof.verify_zoo(ROOT, exercise, sample, workers, console)
    for problem in problems:
        console.print(f"✗ {problem}", highlight=False, markup=False)
    if problems:
        raise typer.Exit(1)
    console.print("✓ All of it holds.")


def main() -> None:
    """The console script."""
    app()


def _grader(sandbox: SandboxMode | None, *, standing: bool = False) -> Grader:
    """A grader confined as was asked; if nothing was, as fits whose code it is.

    A kit without hidden tests is a student's own: its code needs no sandbox there, and may fill the
    cache of compiled programs, which the next grading then reads.
    """
    from grader.cache import compilation_cache
    from grader.exercises import has_hidden_tests
    from grader.grading import Grader

    if sandbox is not None or has_hidden_tests():
        return Grader((sandbox or SandboxMode.auto).value, standing=standing)
    return Grader("off", cache=compilation_cache(), standing=standing)


def _in_course_order(chosen: list[str] | None) -> list[str]:
    """The exercises to be graded, in the order of the course.

    Raises:
      GraderError: there is none of such a name.
    """
    import difflib

    from grader import exercises as course
    from grader.launch import GraderError

    known = list(course.catalogue())
    for name in chosen or ():
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise GraderError(
                f"No exercise is called {name}.{meant} There are: {', '.join(known)}."
            )
    return [name for name in known if not chosen or name in chosen]


@contextlib.contextmanager
def _failing_plainly() -> Iterator[None]:
    """What a person can put right becomes one line and exit status 2."""
    from grader.ingest import IngestError
    from grader.launch import GraderError
    from grader.sandbox import SandboxUnavailable

    try:
        yield
    except (IngestError, GraderError, SandboxUnavailable) as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _fail(message: str) -> None:
    print(f"jaxlings: {message}", file=sys.stderr)
    raise typer.Exit(2)
