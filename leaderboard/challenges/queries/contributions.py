"""What challenges tell pages of corpora and judges, which do not know of them: ``apps`` registers
it there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from annotations.models import CorpusVersion, System
from common.database import CompiledQuery, Given
from leaderboard.challenges.models import Challenge, Round, Submission, Track
from leaderboard.queries.system_choice import SystemChoice
from workers.judges.prompt_queries import Naming


def rounds_naming(part: str) -> list[Naming]:
    """Each metric of a round whose text holds the ``part``. There are few rounds: all are read."""
    rounds = Round.objects.select_related("challenge").order_by("challenge_id", "position", "pk")
    return [
        Naming(text, f"{one.name}, {one.challenge.name}")
        for one in rounds
        for text in dict.fromkeys([*one.metrics, *one.private_metrics])
        if part in text
    ]


def received_at(version: CorpusVersion, systems: Sequence[System]) -> dict[int, datetime]:
    """When these systems, which are shown already, were handed in, for the time-line of a corpus's
    system leaderboard. What became no system, or was disqualified, is in none."""
    rows = (
        Submission.objects.filter(
            version=version, system__in=systems, round__isnull=False, disqualified_at=None
        )
        .exclude(round__challenge__state=Challenge.State.DRAFT)
        .values_list("system_id", "received_at")
    )
    return {system: at for system, at in rows if system is not None}


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
    """The rounds and tracks that the systems shown already were handed in to: what is withheld is
    in no choice."""
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
