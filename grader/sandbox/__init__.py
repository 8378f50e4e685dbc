"""Confinement of the processes in which submissions run.

`choose` picks the mechanisms, `Sandbox` puts a command and its children into them, `self_test`
tries whether they hold. One module is one mechanism; `confine` is the worker's side of them all.
"""

from __future__ import annotations

from grader.sandbox.choice import PLUGINS, Mode, Sandbox, SandboxUnavailable, choose
from grader.sandbox.selftest import Finding, SelfTestError, self_test

__all__ = [
    "PLUGINS",
    "Finding",
    "Mode",
    "Sandbox",
    "SandboxUnavailable",
    "SelfTestError",
    "choose",
    "self_test",
]
