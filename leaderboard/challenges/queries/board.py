"""A round's leaderboard for one viewer: what the page, its files and the API show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils import timezone

from annotations.models import CorpusVersion
from common.roles import is_organiser
from leaderboard.challenges.access import team_of
from leaderboard.challenges.board.answer import BoardAnswer, BoardEntry
from leaderboard.challenges.board.split import PARTS, PartName
from leaderboard.challenges.models import Round
from leaderboard.challenges.models.challenge import BOARD
from leaderboard.challenges.phase import Phase, is_released, phase_of
from leaderboard.challenges.queries.board_entries import board_answer
from leaderboard.results import look
from leaderboard.results.kinds import registered
from leaderboard.results.look import Look, State

WAITS = "The board is being computed."
FAILED = "The board could not be computed."
NOT_RELEASED = "The private leaderboard is not released yet."


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundBoard:
    """One part of a round's leaderboard, as one viewer may see it.

    ``answer`` is without the entries and the seed that are not for the viewer. It is None where the
    part is not released to them (there is no ``look`` then), and where nothing is computed yet.
    ``own_team``: the public id of the viewer's team.
    """

    round: Round
    part: PartName
    phase: Phase
    is_released: bool
    look: Look[BoardAnswer] | None = None
    answer: BoardAnswer | None = None
    own_team: str | None = None

    @property
    def unreleased(self) -> bool:
        return self.look is None

    @property
    def state(self) -> State:
        return "present" if self.look is None else self.look.state

    @property
    def updated(self) -> datetime | None:
        return self.look.computed_at if self.look and self.answer else None

    @property
    def reason(self) -> str:
        """Why there is no answer, or why the board counts nothing; else ""."""
        if self.answer is not None:
            return self.answer.reason
        if self.look is None:
            return NOT_RELEASED
        return FAILED if self.look.state == "failed" else WAITS

    @property
    def entries(self) -> tuple[BoardEntry, ...]:
        return self.answer.entries if self.answer else ()

    def is_own(self, entry: BoardEntry) -> bool:
        return entry.team_id is not None and entry.team_id == self.own_team


def round_board(
    round: Round, viewer: Any, part: PartName = "public", now: datetime | None = None
) -> RoundBoard:
    """The board of one part for this viewer.

    Disqualified entries are there for organisers and for their own team; the split's seed for
    organisers, and for everybody once the private leaderboard is released.
    Raises ``ValueError`` for another part.
    """
    if part not in PARTS:
        raise ValueError(f"a board's part is {' or '.join(PARTS)}, not {part!r}")
    now = now or timezone.now()
    board = RoundBoard(
        round=round,
        part=part,
        phase=phase_of(round.opens_at, round.closes_at, round.challenge.state, now),
        is_released=is_released(round.release_at, now),
    )
    if part == "private" and not sees_private_board(round, viewer, now):
        return board
    found = look(round.version, _computed, round=round.pk, part=part)
    answer, team = found.answer, team_of(viewer, round.challenge)
    board = replace(board, look=found, own_team=team.public_id if team is not None else None)
    if answer is None:
        return board
    organiser = is_organiser(viewer)
    shown = tuple(
        entry
        for entry in answer.entries
        if organiser or board.is_own(entry) or not entry.disqualified
    )
    split = answer.split
    if not (organiser or board.is_released):
        # Who knew which dialogues are public could tune on them alone
        split = replace(split, seed=None)
    return replace(board, answer=replace(answer, split=split, entries=shown))


def _stamp(version: CorpusVersion, round: int, **_parameters: Any) -> str:
    """Raises ``Round.DoesNotExist``."""
    revision = Round.objects.values_list("revision", flat=True).get(pk=round)
    return f"{revision}.{version.revision}"


@registered(BOARD, version=4, stamp=_stamp)
def _computed(_version: CorpusVersion, round: int, part: PartName) -> BoardAnswer:
    """Of the submissions of its round and of the runs of its corpus version."""
    found = Round.objects.select_related("version__corpus", "challenge").get(pk=round)
    return board_answer(found, part)


def sees_private_board(round: Round, viewer: Any, now: datetime | None = None) -> bool:
    return is_organiser(viewer) or is_released(round.release_at, now or timezone.now())


def has_private_board(round: Round) -> bool:
    """Whether the private leaderboard says anything that the public one does not."""
    return round.public_share < 1 or bool(round.private_metrics)
