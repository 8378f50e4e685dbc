"""What every kind of broken submission gets: its own verdict, a message, and nothing else lost."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

RIGHT_SCALE = "def scale(x, factor):\n    return x * factor\n"
RIGHT_TOTAL = "def total(x):\n    return x.sum()\n"
RIGHT = RIGHT_SCALE + RIGHT_TOTAL


def test_a_right_submission_gets_everything(grade_toy):
    graded = grade_toy(RIGHT)
    assert graded.status == 0
    assert graded.results["points"] == graded.results["max_points"] == 20.0
    assert {item["outcome"] for item in graded.items().values()} == {"passed"}


@pytest.mark.parametrize(
    "source",
    [
        b"\xef\xbb\xbf" + RIGHT.encode(),
        RIGHT.replace("\n", "\r\n").encode(),
        RIGHT.replace("    ", "\t").encode(),
        ("# -*- coding: latin-1 -*-\n# caf\xe9\n" + RIGHT).encode("latin-1"),
        (
            "def scale(x, factor=2.0, *, \u03bb=1.0):\n    return x * factor * \u03bb\n"
            + RIGHT_TOTAL
        ).encode(),
        (
            b"import numpy as np\ndef scale(x, factor):\n    return x * factor\n"
            b"def total(x):\n    return float(np.asarray(x).sum())\n"
        ),
        ("print('hello ' * 10)\n" + RIGHT).encode(),
    ],
    ids=["bom", "crlf", "tabs", "latin-1", "other names", "numpy results", "prints"],
)
def test_unusual_right_submissions_get_everything(grade_toy, source):
    assert grade_toy(source).status == 0


CASES = {
    # source, outcome of test_scale_multiplies, what its message says
    "syntax error": ("def scale(x:\n", "error", "not valid Python"),
    "exception at import": ("raise ValueError('no luck')\n", "error", "ValueError: no luck"),
    "exit at import": ("import sys\nsys.exit(0)\n", "error", "SystemExit"),
    "process ended at import": (
        "import os\nos._exit(0)\n",
        "crashed",
        "while scaling.py was imported",
    ),
    "endless import": ("while True:\n    pass\n", "timeout", "while scaling.py was imported"),
    "wrong encoding": (b"name = 'caf\xe9 \xff'\n" + RIGHT.encode(), "error", "not valid Python"),
    "function missing": (RIGHT_TOTAL, "error", "no scale in the module"),
    "wrong signature": ("def scale(x):\n    return x\n" + RIGHT_TOTAL, "error", "stub's signature"),
    "not written": (
        "def scale(x, factor):\n    raise NotImplementedError('scale is not written yet')\n"
        + RIGHT_TOTAL,
        "error",
        "scale is not written yet",
    ),
    "nothing returned": ("def scale(x, factor):\n    x * factor\n" + RIGHT_TOTAL, "failed", "None"),
    "a list": (
        "def scale(x, factor):\n    return (x * factor).tolist()\n" + RIGHT_TOTAL,
        "failed",
        "list",
    ),
    "wrong shape": (
        "def scale(x, factor):\n    return (x * factor)[None]\n" + RIGHT_TOTAL,
        "failed",
        "shape (1, 3, 4)",
    ),
    "wrong dtype": (
        "def scale(x, factor):\n    return (x * factor).astype('float16')\n" + RIGHT_TOTAL,
        "failed",
        "dtype float16",
    ),
    "NaN": (
        "def scale(x, factor):\n    return x * factor / 0 * 0\n" + RIGHT_TOTAL,
        "failed",
        "NaN",
    ),
    "known mistake": (
        "def scale(x, factor):\n    return x + factor\n" + RIGHT_TOTAL,
        "failed",
        "the factor is added",
    ),
    "wrong numbers": (
        "def scale(x, factor):\n    return x * factor * 1.01\n" + RIGHT_TOTAL,
        "failed",
        "differs",
    ),
    "endless call": (
        "def scale(x, factor):\n    while True: pass\n" + RIGHT_TOTAL,
        "timeout",
        "in scale",
    ),
    "process ended": (
        "import os\ndef scale(x, factor):\n    os._exit(0)\n" + RIGHT_TOTAL,
        "crashed",
        "exit status 0",
    ),
    "segmentation fault": (
        "import ctypes\ndef scale(x, factor):\n    ctypes.string_at(0)\n" + RIGHT_TOTAL,
        "crashed",
        "SIGSEGV",
    ),
    "ten gigabytes": (
        "import numpy as np\ndef scale(x, factor):\n    return np.ones((10, 1 << 30), np.uint8)\n"
        + RIGHT_TOTAL,
        None,
        "",
    ),
    "an object": (
        "class A: pass\ndef scale(x, factor):\n    return A()\n" + RIGHT_TOTAL,
        "failed",
        "type A",
    ),
    "a generator": ("def scale(x, factor):\n    yield x\n" + RIGHT_TOTAL, "failed", "generator"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_broken_function_costs_its_own_items(grade_toy, case):
    source, outcome, message = CASES[case]
    graded = grade_toy(source)
    items = graded.items()
    assert graded.status == 1
    assert items["test_scale_multiplies"]["outcome"] in (
        (outcome,) if outcome else ("failed", "error", "crashed", "timeout")
    )
    assert message in items["test_scale_multiplies"]["message"]
    assert items["test_scale_under_jit"]["points"] == 0.0
    text = source if isinstance(source, str) else ""
    expected = "passed" if RIGHT_TOTAL in text else items["test_scale_multiplies"]["outcome"]
    assert items["test_total_adds_up"]["outcome"] == expected


def test_a_hundred_megabytes_of_output_cost_nothing(grade_toy):
    noisy = "def total(x):\n    print('x' * 100_000_000)\n    return x.sum()\n"
    assert grade_toy(RIGHT_SCALE + noisy).status == 0


def test_a_missing_module_scores_nothing_and_says_so(toy_kit, tmp_path):
    graded = toy_kit.grade(tmp_path)
    assert graded.status == 1
    assert graded.results["points"] == 0.0
    assert "scaling.py is missing" in graded.items()["test_scale_multiplies"]["message"]


def test_the_stub_scores_nothing_and_names_what_to_write(toy_kit):
    graded = toy_kit.grade(toy_kit.root / "exercises")
    assert graded.results["points"] == 0.0
    assert "scale is not written yet" in graded.items()["test_scale_multiplies"]["message"]


@pytest.mark.parametrize("folder", ["nowhere", "a\nb"])
def test_a_folder_that_is_not_there_is_one_line_and_status_2(toy_kit, tmp_path, folder):
    graded = toy_kit.grade(tmp_path / folder)
    assert graded.status == 2
    assert graded.results is None
    assert len(graded.stderr.strip().splitlines()) == 1


def test_an_unknown_exercise_is_one_line_with_the_nearest_name(toy_kit):
    done = toy_kit.run("grade", "-x", "scalling")
    assert done.returncode == 2
    assert "Did you mean scaling?" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_hidden_items_tell_a_student_their_title_and_no_more(grade_toy):
    graded = grade_toy("def scale(x, factor):\n    return x * float(factor)\n" + RIGHT_TOTAL)
    item = graded.items()["test_scale_under_jit"]
    assert item["hidden"]
    assert item["outcome"] == "error"
    assert "ConcretizationTypeError" not in item["message"]
    assert "ConcretizationTypeError" in item["detail"]
    assert "Concretization" not in graded.stdout
    assert item["title"] in graded.stdout


def test_without_hidden_tests_their_points_are_said_to_be_missing(grade_toy):
    graded = grade_toy(RIGHT, "--no-hidden")
    assert graded.results["max_points"] == 10.0
    assert "10 points of hidden tests" in graded.stdout


def test_the_results_file_has_the_fixed_form(grade_toy):
    results = grade_toy(RIGHT).results
    assert {"schema", "submission", "points", "max_points", "environment", "exercises"} == set(
        results
    )
    assert results["schema"] == 1
    assert {"jax", "backend", "device", "python", "sandbox"} <= set(results["environment"])
    exercise = results["exercises"]["scaling"]
    assert {"points", "max_points", "seconds", "items"} == set(exercise)
    fields = {"name", "title", "hidden", "points", "max_points", "outcome", "message", "detail"}
    assert all(fields == set(item) for item in exercise["items"])


@pytest.mark.parametrize(
    "environment",
    [
        {"JAX_ENABLE_X64": "1", "JAX_DEFAULT_DTYPE_BITS": "64"},
        {"JAX_DEFAULT_PRNG_IMPL": "rbg", "JAX_THREEFRY_PARTITIONABLE": "0"},
        {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_DEBUG_NANS": "1"},
        {"PYTEST_ADDOPTS": "--collect-only", "PYTHONOPTIMIZE": "2", "PYTHONWARNINGS": "error"},
    ],
    ids=lambda environment: next(iter(environment)),
)
def test_no_variable_of_the_environment_changes_a_verdict(toy_kit, environment):
    done = toy_kit.run("grade", "solutions", environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_seed_repeats_the_inputs_and_another_does_not(grade_toy):
    noisy = "def scale(x, factor):\n    raise ValueError(f'{float(x.sum()):.6f}')\n" + RIGHT_TOTAL

    def told(*arguments: str) -> str:
        return grade_toy(noisy, *arguments).items()["test_scale_multiplies"]["message"]

    assert told("--seed", "7") == told("--seed", "7") != told("--seed", "8")


def test_a_traceback_begins_at_the_students_own_line(grade_toy):
    source = "def helper(x):\n    return x.nothing\ndef scale(x, factor):\n    return helper(x)\n"
    detail = grade_toy(source + RIGHT_TOTAL).items()["test_scale_multiplies"]["detail"]
    lines = detail.splitlines()
    assert lines[0].strip() == "scaling.py, line 4, in scale: return helper(x)"
    assert lines[1].strip() == "scaling.py, line 2, in helper: return x.nothing"
    assert lines[2].startswith("AttributeError")


def test_the_detail_of_a_failed_item_leads_through_the_kits_own_files_alone(grade_toy):
    wrong = RIGHT_SCALE.replace("* factor", "- factor") + RIGHT_TOTAL
    detail = grade_toy(wrong).items()["test_scale_multiplies"]["detail"]
    assert "test_scaling.py" in detail
    assert "in test_scale_multiplies" in detail
    assert detail.count("CheckFailed: ") == 1
    assert "pluggy" not in detail
    assert "_pytest" not in detail


def test_a_failure_of_the_grader_is_ungraded_and_never_a_zero(toy_kit, grade_toy):
    test = toy_kit.root / "tests" / "visible" / "test_scaling.py"
    good = test.read_text()
    try:
        test.write_text(good.replace("added = Mistake(", "added = Misteak("))
        graded = grade_toy(RIGHT)
    finally:
        test.write_text(good)
    assert graded.status == 2
    assert graded.items()["test_scale_multiplies"]["outcome"] == "ungraded"
    assert graded.items()["test_total_adds_up"]["outcome"] == "passed"


def test_the_report_is_plain_text_where_it_is_piped(grade_toy):
    assert not re.search(r"\x1b", grade_toy(RIGHT).stdout)


def test_in_process_the_tests_run_where_a_debugger_works(toy_kit):
    plain = ["-m", "pytest", "-q", "-p", "grader.plugin", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, *plain, "tests/visible", "--in-process", "--submission", "solutions"],
        cwd=toy_kit.root,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="sandboxes need Linux")
def test_required_grades_nobody_before_the_reference_solution_has_full_marks(toy_kit, grade_toy):
    solution = toy_kit.root / "solutions" / "scaling.py"
    good = solution.read_text()
    try:
        solution.write_text(good.replace("return jnp.sum(x)", "return jnp.max(x)"))
        refused = grade_toy(RIGHT, "--sandbox", "required")
    finally:
        solution.write_text(good)
    assert (refused.status, refused.results) == (2, None)
    [line] = refused.stderr.splitlines()
    assert "the reference solution loses scaling/test_total_adds_up here" in line
    assert grade_toy(RIGHT, "--sandbox", "required").status == 0
