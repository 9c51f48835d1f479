"""After the load: nothing lost, nothing doubled, nothing left in hand."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

DRAINED_WITHIN_SECONDS = 1800


def drained() -> float:
    """Wait until the workers have done what waited at the end; the seconds it took. Raises
    ``TimeoutError``."""
    started = time.monotonic()
    while time.monotonic() < started + DRAINED_WITHIN_SECONDS:
        if not any(at_work().values()):
            return time.monotonic() - started
        time.sleep(0.5)
    raise TimeoutError(f"the workers were not done after {DRAINED_WITHIN_SECONDS} s: {at_work()}")


def at_work() -> dict[str, int]:
    from leaderboard.challenges.models import Submission
    from leaderboard.models import Analysis
    from workers.models import MetricRun

    return {
        "metric runs": MetricRun.objects.filter(state__in=["pending", "running"]).count(),
        "submissions": Submission.objects.exclude(
            state__in=["scored", "invalid", "failed", "cancelled"]
        ).count(),
        "statistics": Analysis.objects.filter(state__in=["pending", "running"]).count(),
    }


def faults(answers: dict[str, Any], campaign: str, drained: bool) -> list[str]:
    """Empty where all is well. Where the workers are not done, what waits for them is no fault."""
    found = [*_ratings_stored_once(answers["acknowledged"], campaign), *_nothing_failed()]
    if drained:
        found += [*_uploads_ended(answers["uploads"]), *_nothing_in_hand(campaign)]
    return found


def _ratings_stored_once(acknowledged: list[dict[str, Any]], campaign: str) -> list[str]:
    from annotations.campaigns.models import RatingRevision

    stored = {
        (name, item, key): score
        for name, item, key, score in RatingRevision.objects.filter(
            assignment__participation__campaign__slug=campaign
        ).values_list(
            "assignment__participation__user__username",
            "assignment__item__public_id",
            "key",
            "score",
        )
    }
    times = Counter((name, item) for name, item, _ in stored)
    told = {(one["rater"], one["item"], one["key"]): one["score"] for one in acknowledged}
    found = [
        f"acknowledged and not stored as it was sent: {one}"
        for one in told
        if stored.get(one) != told[one]
    ]
    found += [f"stored {count} times: {one}" for one, count in times.items() if count > 1]
    found += [f"stored and never acknowledged: {one}" for one in stored if one not in told]
    return found


def _uploads_ended(uploads: list[dict[str, Any]]) -> list[str]:
    from leaderboard.challenges.models import Submission

    states = dict(
        Submission.objects.filter(public_id__in=[one["id"] for one in uploads]).values_list(
            "public_id", "state"
        )
    )
    found = [
        f"upload {one['id']} is {states.get(one['id'], 'lost')}"
        for one in uploads
        if states.get(one["id"]) != "scored"
    ]
    return found + [
        f"upload {name} was told twice"
        for name, times in Counter(one["id"] for one in uploads).items()
        if times > 1
    ]


def _nothing_in_hand(campaign: str) -> list[str]:
    from annotations.campaigns.models import Assignment, Slot
    from leaderboard.challenges.models import Submission
    from leaderboard.models import Analysis
    from workers.models import MetricRun

    left = {
        "items in hand": Assignment.objects.filter(
            participation__campaign__slug=campaign, state="leased"
        ),
        "slots held by what is not rated": Slot.objects.filter(
            campaign__slug=campaign, holder__isnull=False
        ).exclude(holder__state="done"),
        "leases of metric runs": MetricRun.objects.filter(lease_expires_at__isnull=False),
        "leases of submissions": Submission.objects.filter(lease_expires_at__isnull=False),
        "leases of statistics": Analysis.objects.filter(lease_expires_at__isnull=False),
    }
    return [f"{what}: {count}" for what, rows in left.items() if (count := rows.count())]


def _nothing_failed() -> list[str]:
    from leaderboard.models import Analysis
    from workers.models import MetricRun

    return [
        f"failed statistic {row.kind}: {row.error[:200]}"
        for row in Analysis.objects.filter(state="failed")
    ] + [
        f"failed run {row.configuration}: {row.error[:200]}"
        for row in MetricRun.objects.filter(state="failed")[:10]
    ]
