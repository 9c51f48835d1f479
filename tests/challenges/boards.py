"""Scored submissions whose scores a test writes down: no worker, no upload, the rows as they end
up."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from annotations.models import CorpusVersion, Response, System, Turn
from leaderboard.challenges.models import Round, Submission, Team
from tests.challenges.sets import open_round, small_version, team_with_member
from workers.metrics.common.configuration import parse
from workers.models import MetricRun

FIRST = datetime(2026, 11, 1, 12, tzinfo=UTC)


def board_round(dialogues: int = 4, turns: int = 2, **fields: Any) -> Round:
    """Ranked by word_f1 alone, all dialogues public unless told."""
    version = fields.pop("version", None) or small_version(dialogues, turns)
    return open_round(version, **{"metrics": ["word_f1"], "ranking_metric": "word_f1", **fields})


def team_of_one(round: Round, name: str) -> Team:
    """Its member is called as the team, in lower case."""
    return team_with_member(round.challenge, name.lower(), name)[0]


def around(score: float) -> list[float]:
    """Turn by turn, for the four dialogues of two turns of ``board_round``: they differ, and their
    mean is the score. Dialogues that agree to the digit would have no interval, and so no rank."""
    return [score + apart for apart in (-0.03, -0.01, 0.01, 0.03) for _ in range(2)]


def scored_with(
    round: Round,
    team: Team,
    turn_scores: Sequence[float | None],
    hours: int = 0,
    name: str = "ours",
    **fields: Any,
) -> Submission:
    """A submission with these scores on the round's ranking metric, turn by turn; it came ``hours``
    after the first."""
    number = Submission.objects.count()
    system = System.objects.create(
        version=round.version,
        position=100 + number,
        name=f"{team.name}: {name} {number}",
        withheld=fields.pop("withheld", True),
    )
    submission = Submission.objects.create(
        **{
            "kind": "responses",
            "track": "gpu",
            "round": round,
            "team": team,
            "version": round.version,
            "name": name,
            "file_name": "responses.json",
            "stored_as": f"file-{number}",
            "size": 1,
            "sha256": hashlib.sha256(str(number).encode()).hexdigest(),
            "state": "scored",
            "ended_at": timezone.now(),
            "system": system,
            "day": FIRST.date(),
            "day_place": number + 1,
            "day_limit": 10_000,
            "total_place": number + 1,
            "total_limit": 10_000,
            **fields,
        }
    )
    Submission.objects.filter(pk=submission.pk).update(received_at=FIRST + timedelta(hours=hours))
    finished_run(system, round.ranking_metric, turn_scores)
    return submission


def finished_run(
    system: System, metric: str, turn_scores: Sequence[float | None], **fields: Any
) -> MetricRun:
    configuration = parse(metric)
    given = [score for score in turn_scores if score is not None]
    return MetricRun.objects.create(
        **{
            "system": system,
            "metric": configuration.metric.name,
            "metric_version": configuration.metric.version,
            "configuration": configuration.text,
            "queue": "cpu",
            "state": "done",
            "finished_at": timezone.now(),
            "signature": f"metric:{metric}|n:{len(given)}",
            "turn_scores": list(turn_scores),
            "system_score": sum(given) / len(given) if given else None,
            "system_reason": "" if given else "no turn has a score",
            **fields,
        }
    )


def baseline_of(
    version: CorpusVersion, name: str, turn_scores: Sequence[float | None] = ()
) -> System:
    """A baseline of the corpus itself."""
    position = version.systems.count()
    system = System.objects.create(version=version, position=position, name=name, kind="baseline")
    if turn_scores:
        finished_run(system, "word_f1", turn_scores)
    return system


def responses_of(system: System, text: str) -> list[Response]:
    turns = Turn.objects.filter(dialogue__version=system.version)
    return Response.objects.bulk_create(
        Response(system=system, turn=turn, text=text) for turn in turns
    )
