"""The rounds and tracks that the published systems of a corpus were handed in to, for its leaderboards."""

from __future__ import annotations

from annotations.models import CorpusVersion, System
from leaderboard.challenges.models import Challenge, Submission, Track
from leaderboard.queries.system_choice import SystemChoice


def of_rounds_and_tracks(version: CorpusVersion, shown: list[System]) -> list[SystemChoice]:
    """Of the systems that are shown already: what is withheld is in no choice."""
    handed_in = (
        Submission.objects.filter(version=version, system__isnull=False, round__isnull=False)
        .exclude(round__challenge__state=Challenge.State.DRAFT)
        .select_related("round__challenge")
        .order_by("round__challenge__slug", "round__position", "round__pk", "pk")
    )
    by_pk = {system.pk: system for system in shown}
    labels: dict[str, str] = {}
    members: dict[str, list[System]] = {}
    for one in handed_in:
        round_ = one.round
        assert round_ is not None
        assert one.system_id is not None
        if one.system_id not in by_pk:
            continue
        keys = {f"round:{round_.challenge.slug}/{round_.slug}": f"round {round_.name} of {round_.challenge.name}"}
        if one.track:
            keys[f"track:{one.track}"] = f"track {Track(one.track).value}"
        for key, label in keys.items():
            labels[key] = label
            members.setdefault(key, []).append(by_pk[one.system_id])
    return [SystemChoice(key, labels[key], tuple(systems)) for key, systems in members.items()]
