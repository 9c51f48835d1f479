"""When the published systems of a corpus were handed in, for the time-line of its system
leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from annotations.models import CorpusVersion, System
from leaderboard.challenges.models import Challenge, Submission


def received_at(version: CorpusVersion, systems: Sequence[System]) -> dict[int, datetime]:
    """Of these systems, which are shown already. What became no system, or was disqualified, is in
    no time-line."""
    rows = (
        Submission.objects.filter(
            version=version, system__in=systems, round__isnull=False, disqualified_at=None
        )
        .exclude(round__challenge__state=Challenge.State.DRAFT)
        .values_list("system_id", "received_at")
    )
    return {system: at for system, at in rows if system is not None}
