"""Any bytes, called a zip, give a submission or one clear error, in bounded time and memory."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.ingest import MODULE_BYTES, NOTES, IngestError, Submission, ingest

pytestmark = pytest.mark.filterwarnings("ignore:Duplicate name")

NAMES = ("dropout", "clipping")
QUICK = settings(max_examples=150, deadline=2000, suppress_health_check=[HealthCheck.too_slow])

parts = st.sampled_from(
    ["dropout.py", "clipping.py", "DROPOUT.py", "..", ".", "", "exercises", "a", "C:", "\\", "é"]
) | st.text(max_size=8)
member_names = st.lists(parts, min_size=1, max_size=5).map("/".join)
members = st.lists(
    st.tuples(
        member_names,
        st.binary(max_size=200),
        st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2]),
        st.integers(0, 0xFFFF),
    ),
    max_size=8,
)


@st.composite
def archives(draw: st.DrawFn) -> bytes:
    """A zip of odd names, methods and file kinds."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data, method, mode in draw(members):
            info = zipfile.ZipInfo(name.replace("\0", "") or "x")
            info.compress_type, info.external_attr = method, mode << 16
            try:
                archive.writestr(info, data)
            except UnicodeEncodeError:  # a lone surrogate is no file's name
                continue
    return stream.getvalue()


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A zip of which some bytes were changed, or the end was cut off."""
    data = bytearray(draw(archives()))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data) - 1))
        data[at] = draw(st.integers(0, 255))
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


def read(data: bytes) -> Submission | None:
    """What ``data`` is read as; None for a clear error. Checks what holds for every submission."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ann.zip"
        path.write_bytes(data)
        try:
            submission = ingest(path, NAMES)
        except IngestError:
            return None
        assert [entry.name for entry in Path(folder).iterdir()] == ["ann.zip"]
    assert set(submission.modules) <= set(NAMES)
    assert set(submission.problems) <= set(NAMES) - set(submission.modules)
    assert all(len(source) <= MODULE_BYTES for source in submission.modules.values())
    assert len(submission.notes) <= NOTES + 1
    assert all(text.isprintable() for text in [*submission.problems.values(), *submission.notes])
    return submission


@QUICK
@given(st.binary(max_size=2000))
def test_any_bytes(data: bytes) -> None:
    read(data)


@QUICK
@given(archives())
def test_any_zip_is_read(data: bytes) -> None:
    assert read(data) is not None


@QUICK
@given(damaged())
def test_any_damaged_zip(data: bytes) -> None:
    read(data)


@QUICK
@given(archives())
def test_any_zip_within_a_zip(data: bytes) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("homework.zip", data)
    assert read(stream.getvalue()) is not None
