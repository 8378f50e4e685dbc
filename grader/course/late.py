"""What being late costs."""

from __future__ import annotations

import math

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Float

_DAY = 86_400.0


class LateByRate(LateSubmissionPlugin):
    """Takes a share of the points for each day begun; by default nothing."""

    per_day = Float(0.0, help="Share of the points lost for each day begun, 0 to 1.").tag(
        config=True
    )
    grace_hours = Float(0.0, help="So late is not late yet.").tag(config=True)
    most = Float(1.0, help="The largest share that can be lost.").tag(config=True)

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """The points lost of `score`; None if the submission counts as in time."""
        late = total_seconds_late - 3600 * self.grace_hours
        if late <= 0 or not self.per_day:
            return None
        return score * min(self.most, self.per_day * math.ceil(late / _DAY))
