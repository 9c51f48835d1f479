"""The rounds and tracks that the published systems of a corpus were handed in to, for its leaderboards."""

from __future__ import annotations

from django.db.models import F

from annotations.models import CorpusVersion, System
from annotations.prepared import Given, Prepared
from leaderboard.challenges.models import Challenge, Submission, Track
from leaderboard.queries.system_choice import SystemChoice

_HANDED_IN = Prepared(
    lambda: (
        Submission.objects.filter(version=Given("version"), system__isnull=False, round__isnull=False)
        .exclude(round__challenge__state=Challenge.State.DRAFT)
        .order_by("round__challenge__slug", "round__position", "round__pk", "pk")
        .only("system", "track")
        .annotate(
            round_slug=F("round__slug"),
            round_name=F("round__name"),
            challenge_slug=F("round__challenge__slug"),
            challenge_name=F("round__challenge__name"),
        )
    )
)


def of_rounds_and_tracks(version: CorpusVersion, shown: list[System]) -> list[SystemChoice]:
    """Of the systems that are shown already: what is withheld is in no choice."""
    by_pk = {system.pk: system for system in shown}
    labels: dict[str, str] = {}
    members: dict[str, list[System]] = {}
    for one in _HANDED_IN.rows(version=version.pk):
        if one.system_id not in by_pk:
            continue
        keys = {f"round:{one.challenge_slug}/{one.round_slug}": f"round {one.round_name} of {one.challenge_name}"}
        if one.track:
            keys[f"track:{one.track}"] = f"track {Track(one.track).value}"
        for key, label in keys.items():
            labels[key] = label
            members.setdefault(key, []).append(by_pk[one.system_id])
    return [SystemChoice(key, labels[key], tuple(systems)) for key, systems in members.items()]
