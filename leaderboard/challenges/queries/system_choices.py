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
        .order_by("round__challenge__slug", "round__position", "round__pk", "pk")
        .values_list(  # not whole rows: every board asks for these
            "system", "track", "round__slug", "round__name", "round__challenge__slug", "round__challenge__name"
        )
    )
    by_pk = {system.pk: system for system in shown}
    labels: dict[str, str] = {}
    members: dict[str, list[System]] = {}
    for system, track, round_slug, round_name, challenge_slug, challenge_name in handed_in:
        if system not in by_pk:
            continue
        keys = {f"round:{challenge_slug}/{round_slug}": f"round {round_name} of {challenge_name}"}
        if track:
            keys[f"track:{track}"] = f"track {Track(track).value}"
        for key, label in keys.items():
            labels[key] = label
            members.setdefault(key, []).append(by_pk[system])
    return [SystemChoice(key, labels[key], tuple(systems)) for key, systems in members.items()]
