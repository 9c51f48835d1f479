"""A round's leaderboard as one document: what the page, its files and the API show."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone

from annotations.models import CorpusVersion
from common.roles import is_organiser
from leaderboard.challenges.access import team_of
from leaderboard.challenges.board.split import PARTS, PartName
from leaderboard.challenges.models import Round
from leaderboard.challenges.models.challenge import BOARD
from leaderboard.challenges.phase import is_released, phase_of
from leaderboard.challenges.queries.board_entries import board_answer
from leaderboard.results import look
from leaderboard.results.kinds import registered

WAITS = "The board is being computed."
FAILED = "The board could not be computed."
NOT_RELEASED = "The private leaderboard is not released yet."


def round_board(
    round: Round, viewer: Any, part: PartName = "public", now: datetime | None = None
) -> dict[str, Any]:
    """The board of one part for this viewer.

    Beside what ``board_answer`` holds: ``challenge``, ``round``, ``phase``, ``release_at``,
    ``updated`` (ISO), ``own`` at each entry of the viewer's team, ``unreleased``, true with no
    entries where the viewer may not see this part yet, ``state`` (present, stale, waiting, failed)
    and the ``look`` that it is of. Disqualified entries are there for organisers and for their own
    team; the split's seed for organisers, and for everybody once the private leaderboard is
    released.
    Raises ``ValueError`` for another part.
    """
    if part not in PARTS:
        raise ValueError(f"a board's part is {' or '.join(PARTS)}, not {part!r}")
    now = now or timezone.now()
    facts = _facts_of(round, part, now)
    if part == "private" and not sees_private_board(round, viewer, now):
        return {
            **facts,
            "unreleased": True,
            "reason": NOT_RELEASED,
            "metrics": [],
            "entries": [],
            "updated": None,
            "state": "present",
        }
    found = look(round.version, BOARD, round=round.pk, part=part)
    if found.answer is None:
        reason = FAILED if found.state == "failed" else WAITS
        empty = {"reason": reason, "metrics": [], "entries": [], "updated": None}
        return {**facts, "unreleased": False, **empty, "state": found.state, "look": found}
    seen = {"updated": _written(found.computed_at), "state": found.state, "look": found}
    return _for_viewer({**facts, "unreleased": False, **found.answer, **seen}, round, viewer, now)


def _stamp(version: CorpusVersion, round: int, **_parameters: Any) -> str:
    """Raises ``Round.DoesNotExist``."""
    revision = Round.objects.values_list("revision", flat=True).get(pk=round)
    return f"{revision}.{version.revision}"


@registered(BOARD, version=4, stamp=_stamp)
def _computed(_version: CorpusVersion, round: int, part: PartName) -> dict[str, Any]:
    """Of the submissions of its round and of the runs of its corpus version."""
    found = Round.objects.select_related("version__corpus", "challenge").get(pk=round)
    return board_answer(found, part)


def sees_private_board(round: Round, viewer: Any, now: datetime | None = None) -> bool:
    return is_organiser(viewer) or is_released(round.release_at, now or timezone.now())


def has_private_board(round: Round) -> bool:
    """Whether the private leaderboard says anything that the public one does not."""
    return round.public_share < 1 or bool(round.private_metrics)


def _facts_of(round: Round, part: PartName, now: datetime) -> dict[str, Any]:
    return {
        "challenge": round.challenge.slug,
        "round": round.slug,
        "name": round.name,
        "part": part,
        "phase": phase_of(round.opens_at, round.closes_at, round.challenge.state, now),
        "closes_at": _written(round.closes_at),
        "release_at": _written(round.release_at),
        "is_released": is_released(round.release_at, now),
        "ranking_metric": round.ranking_metric,
        "entry": round.entry,
        "public_share": round.public_share,
        "has_private_board": has_private_board(round),
    }


def _written(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _for_viewer(
    document: dict[str, Any], round: Round, viewer: Any, now: datetime
) -> dict[str, Any]:
    organiser = is_organiser(viewer)
    team = team_of(viewer, round.challenge)
    own = team.public_id if team is not None else None
    entries = [
        {**entry, "own": entry["team_id"] is not None and entry["team_id"] == own}
        for entry in document["entries"]
    ]
    shown = [entry for entry in entries if organiser or entry["own"] or not entry["disqualified"]]
    split = dict(document["split"])
    if not (organiser or is_released(round.release_at, now)):
        split["seed"] = None  # who knew which dialogues are public could tune on them alone
    return {**document, "split": split, "entries": shown}
