"""`choose`: the strongest that works, or one line that says what to do."""

from __future__ import annotations

import sys

import pytest

from grader.sandbox import (
    Sandbox,
    SandboxUnavailable,
    bubblewrap,
    choice,
    choose,
    landlock,
    selftest,
)
from grader.sandbox import seccomp as seccomp_module

FULL = ("bubblewrap", "namespaces", "landlock", "seccomp", "rlimits")
linux = pytest.mark.skipif(sys.platform != "linux", reason="the mechanisms are Linux's")


@pytest.fixture
def machine(monkeypatch):
    """A pretended machine: `machine(bubblewrap=..., landlock=..., seccomp=..., broken={...})`."""

    def pretend(*, bubblewrap_there=True, abi=7, seccomp=True, broken=()):
        monkeypatch.setattr(
            bubblewrap, "find", lambda: "/usr/bin/bwrap" if bubblewrap_there else None
        )
        monkeypatch.setattr(landlock, "abi", lambda: abi)
        monkeypatch.setattr(seccomp_module, "available", lambda: seccomp)
        broken = set(broken)

        def trouble(sandbox):
            failing = broken & set(sandbox.layers)
            return f"{sorted(failing)[0]} is refused" if failing else None

        monkeypatch.setattr(selftest, "trouble", trouble)

    return pretend


@linux
def test_auto_takes_the_strongest(machine):
    machine()
    sandbox = choose("auto")
    assert sandbox.layers == FULL
    assert sandbox.name == "bubblewrap+namespaces+landlock+seccomp+rlimits"
    assert sandbox.warnings == ()
    assert sandbox.forks
    assert sandbox.confines


@linux
@pytest.mark.parametrize(
    ("there", "layers", "warned"),
    [
        ({"abi": 0}, ("bubblewrap", "namespaces", "seccomp", "rlimits"), ""),
        ({"abi": 2}, ("bubblewrap", "namespaces", "seccomp", "rlimits"), ""),
        ({"broken": ["namespaces"]}, ("bubblewrap", "landlock", "seccomp", "rlimits"), ""),
        ({"broken": ["bubblewrap"]}, FULL[1:], ""),
        ({"broken": ["bubblewrap", "namespaces"]}, FULL[2:], "Landlock only"),
        ({"bubblewrap_there": False, "broken": ["namespaces"]}, FULL[2:], "Landlock only"),
    ],
)
def test_required_falls_back_to_what_still_confines(machine, there, layers, warned):
    machine(**there)
    sandbox = choose("required")
    assert sandbox.layers == layers
    assert bool(sandbox.warnings) == bool(warned)
    assert warned in " ".join(sandbox.warnings)


@linux
@pytest.mark.parametrize(
    ("there", "said"),
    [
        ({"bubblewrap_there": False, "abi": 0}, "bubblewrap is missing; install bubblewrap"),
        (
            {"bubblewrap_there": False, "broken": ["landlock"]},
            r"bubblewrap is missing, and Landlock does not start \(landlock is refused\)",
        ),
        ({"abi": 0, "broken": ["bubblewrap"]}, r"does not start \(bubblewrap is refused\)"),
        ({"seccomp": False}, "refuses seccomp"),
    ],
)
def test_required_refuses_with_one_line_that_names_the_next_step(machine, there, said):
    machine(**there)
    with pytest.raises(SandboxUnavailable, match=said) as refused:
        choose("required")
    assert "\n" not in str(refused.value)


@linux
@pytest.mark.parametrize(
    "there", [{"bubblewrap_there": False, "abi": 0}, {"seccomp": False, "abi": 0}]
)
def test_auto_goes_on_with_less_and_warns(machine, there):
    machine(**there)
    assert choose("auto").warnings


def test_auto_goes_on_with_nothing_and_says_so(monkeypatch):
    monkeypatch.setattr(selftest, "trouble", lambda sandbox: "refused")
    sandbox = choose("auto")
    assert sandbox.layers == ()
    assert "no sandbox" in sandbox.warnings[0]


def test_off_is_none_and_warns():
    sandbox = choose("off")
    assert sandbox.name == "none"
    assert not sandbox.confines
    assert "--sandbox off" in sandbox.warnings[0]


def test_elsewhere_than_on_linux_required_refuses(machine, monkeypatch):
    machine(seccomp=False, abi=0, bubblewrap_there=False)
    monkeypatch.setattr(choice, "on_linux", lambda: False)
    with pytest.raises(SandboxUnavailable, match="only Linux"):
        choose("required")
    assert any("memory" in warning for warning in choose("auto").warnings)


@pytest.mark.parametrize(
    ("layers", "forks"),
    [
        (FULL, True),
        (FULL[1:], True),
        (FULL[2:], True),
        (("bubblewrap", *FULL[2:]), False),
        ((), True),
    ],
)
def test_workers_are_forked_only_where_each_has_its_own_files(layers, forks):
    assert Sandbox(layers).forks == forks


@pytest.mark.parametrize("missing", ["seccomp", "rlimits"])
def test_files_alone_do_not_confine(missing):
    assert not Sandbox(tuple(layer for layer in FULL if layer != missing)).confines


def test_auto_leaves_an_accelerator_to_the_students_own_code(monkeypatch):
    monkeypatch.setattr(choice, "accelerated", lambda: True)
    monkeypatch.setattr(selftest, "trouble", lambda sandbox: None)
    sandbox = choose("auto")
    assert sandbox.layers == ()
    assert "accelerator" in sandbox.warnings[0]


@linux
def test_required_confines_and_computes_on_the_processor_in_spite_of_an_accelerator(
    machine, monkeypatch
):
    machine()
    monkeypatch.setattr(choice, "accelerated", lambda: True)
    assert choose("required").layers == FULL


def test_a_processor_that_was_asked_for_is_no_accelerator(monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert not choice.accelerated()
