"""The zip that a student hands in: all that is there goes in, warnings say what is not."""

from __future__ import annotations

import hashlib
import json
import zipfile

import pytest

from grader.exercises import ROOT, names
from grader.ingest import ingest
from grader.report.model import ExerciseResult, Report
from grader.submit import MANIFEST, pack, unwritten


def test_the_zip_comes_back_through_ingest_byte_for_byte(tmp_path):
    packed = pack(ROOT / "solutions", tmp_path / "submission.zip", None)
    assert packed.warnings == ()
    handed_in = ingest(packed.path, names())
    assert handed_in.modules == ingest(ROOT / "solutions", names()).modules
    assert handed_in.problems == {}


def test_the_manifest_says_what_the_modules_are_and_what_was_seen(tmp_path):
    seen = Report(
        submission="me",
        points=3.0,
        max_points=10.0,
        environment={"jax": "1.2.3", "backend": "cpu"},
        exercises={"dropout": ExerciseResult(points=3.0, max_points=10.0, seconds=1.0, items=[])},
    )
    packed = pack(ROOT / "exercises", tmp_path / "s.zip", seen)
    with zipfile.ZipFile(packed.path) as archive:
        manifest = json.loads(archive.read(MANIFEST))
        source = archive.read("dropout.py")
    about = manifest["modules"]["dropout"]
    assert about["sha256"] == hashlib.sha256(source).hexdigest()
    assert about["points_seen"] == {"points": 3.0, "max_points": 10.0}
    assert manifest["modules"]["clipping"]["points_seen"] is None
    assert manifest["environment"] == {"jax": "1.2.3", "backend": "cpu"}


def test_nothing_is_refused_and_everything_odd_is_a_warning(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "dropout.py").write_text("def dropout(:\n")
    (folder / "clipping.py").symlink_to(ROOT / "solutions" / "clipping.py")
    stub = (ROOT / "exercises" / "generic_mlp.py").read_text()
    (folder / "generic_mlp.py").write_text(stub)
    packed = pack(folder, tmp_path / "s.zip", None)
    told = "\n".join(packed.warnings)
    assert "generic_mlp.py: not written yet: num_layers, mlp_forward, init_mlp" in told
    assert "jit_benchmark.py is missing" in told
    assert "clipping.py is left out" in told
    with zipfile.ZipFile(packed.path) as archive:
        assert set(archive.namelist()) == {"dropout.py", "generic_mlp.py", MANIFEST}


@pytest.mark.parametrize(
    ("source", "left"),
    [
        (
            'def f():\n    """Doc."""\n    raise NotImplementedError("f is not written yet")\n',
            ["f"],
        ),
        ("def f():\n    return 1\n", []),
        ("class A:\n    def g(self):\n        raise NotImplementedError('x')\n", ["g"]),
        ("def f(:\n", []),
        ("\0", []),
    ],
)
def test_a_function_is_unwritten_while_it_raises_not_implemented(source, left):
    assert unwritten(source.encode()) == left
