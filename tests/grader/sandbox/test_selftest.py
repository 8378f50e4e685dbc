"""Each attack works where nothing stops it, and none works where something should."""

from __future__ import annotations

import pytest

from grader.sandbox import Sandbox, SelfTestError, self_test, selftest
from grader.sandbox.attacks import ATTACKS
from tests.grader.sandbox import inside


@pytest.mark.parametrize("sandbox", inside.confining())
def test_every_attack_is_stopped(sandbox):
    findings = self_test(sandbox)
    assert [finding.name for finding in findings] == list(ATTACKS)
    assert [finding for finding in findings if not finding.blocked] == []


def test_without_a_sandbox_the_attacks_succeed():
    stopped = {finding.name for finding in self_test(Sandbox()) if finding.blocked}
    # What the machine itself may refuse: a container may have stopped these already.
    assert stopped <= {"be root", "make a namespace", "trace another process", "reserve 64 GiB"}


def test_a_sandbox_that_does_not_hold_says_what_got_through(monkeypatch):
    monkeypatch.setattr(Sandbox, "confines", True)
    trouble = selftest.trouble(Sandbox())
    assert trouble is not None
    assert "'read a file outside' is not blocked" in trouble


def test_a_sandbox_that_does_not_start_is_an_error(monkeypatch):
    monkeypatch.setattr(Sandbox, "command", lambda self, argv, readable: ["/nonexistent", *argv])
    with pytest.raises(SelfTestError, match="nonexistent"):
        self_test(Sandbox())
