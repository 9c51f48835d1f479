"""The rounds and tracks that the published systems of a corpus were handed in to, for its
leaderboards."""

from __future__ import annotations

from collections.abc import Sequence

from annotations.models import CorpusVersion
from common.database import CompiledQuery, Given
from leaderboard.challenges.models import Challenge, Submission, Track
from leaderboard.queries.system_choice import SystemChoice

_HANDED_IN = CompiledQuery(
    lambda: (
        Submission.objects.filter(
            version=Given("version"), system__isnull=False, round__isnull=False
        )
        .exclude(round__challenge__state=Challenge.State.DRAFT)
        .order_by("round__challenge__slug", "round__position", "round__pk", "pk")
        .values_list(
            "system",
            "track",
            "round__slug",
            "round__name",
            "round__challenge__slug",
            "round__challenge__name",
        )
    )
)


def of_rounds_and_tracks(version: CorpusVersion, shown: Sequence[int]) -> list[SystemChoice]:
    """Of the systems that are shown already: what is withheld is in no choice."""
    is_shown = frozenset(shown)
    labels: dict[str, str] = {}
    members: dict[str, list[int]] = {}
    for system, track, round_slug, round_name, challenge_slug, challenge_name in _HANDED_IN.tuples(
        version=version.pk
    ):
        if system not in is_shown:
            continue
        keys = {f"round:{challenge_slug}/{round_slug}": f"round {round_name} of {challenge_name}"}
        if track:
            keys[f"track:{track}"] = f"track {Track(track).value}"
        for key, label in keys.items():
            labels[key] = label
            members.setdefault(key, []).append(system)
    return [SystemChoice(key, labels[key], tuple(systems)) for key, systems in members.items()]
