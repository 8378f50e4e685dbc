"""What being late costs."""

from __future__ import annotations

import pytest

from grader.course.late import LateByRate

DAY = 86_400.0


@pytest.mark.parametrize(
    ("late", "penalty"),
    [(1.0, 2.0), (DAY, 2.0), (DAY + 1, 4.0), (30 * DAY, 10.0)],
)
def test_each_day_begun_costs_its_share_up_to_the_most(late: float, penalty: float) -> None:
    plugin = LateByRate(per_day=0.1, most=0.5)
    assert plugin.late_submission_penalty("ann", 20.0, late) == pytest.approx(penalty)


def test_nothing_is_lost_without_a_rate_or_within_the_grace() -> None:
    assert LateByRate().late_submission_penalty("ann", 20.0, DAY) is None
    grace = LateByRate(per_day=0.1, grace_hours=1.0)
    assert grace.late_submission_penalty("ann", 20.0, 3600.0) is None
    assert grace.late_submission_penalty("ann", 20.0, 3601.0) == pytest.approx(2.0)
