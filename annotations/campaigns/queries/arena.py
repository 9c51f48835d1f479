"""What is known of arenas: which one sees, what was said and voted, what is conspicuous."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from annotations.campaigns.models import Arena, Battle, Message, Visitor
from annotations.campaigns.rater_statistics.vote_anomalies import (
    Anomaly,
    ArenaVote,
    vote_anomalies,
)

SLOW_AFTER = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Round:
    """What the visitor said, and the answers of A and B."""

    text: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class BattleChat:
    """The two chats of a battle. ``rounds`` are those that both have answered: both answers are
    shown together, so that who is faster is not seen. ``waiting``: what was said, at ``sent_at``,
    and is not answered by both."""

    rounds: tuple[Round, ...]
    waiting: str
    is_unanswered: bool
    is_full: bool
    answered_at: datetime | None
    sent_at: datetime | None = None

    @property
    def is_waiting(self) -> bool:
        return bool(self.waiting) and not self.is_unanswered

    @property
    def is_slow(self) -> bool:
        """The visitor is told that there is no need to wait."""
        return (
            self.is_waiting
            and self.sent_at is not None
            and timezone.now() - self.sent_at > SLOW_AFTER
        )

    @property
    def may_vote(self) -> bool:
        return bool(self.rounds) and not self.waiting


def battle_chat(battle: Battle) -> BattleChat:
    by_arm: dict[str, dict[int, Message]] = {"a": {}, "b": {}}
    of_battle = Message.objects.filter(conversation__battle=battle).select_related("conversation")
    for message in of_battle.order_by("number"):
        by_arm[message.conversation.arm][message.number] = message
    a, b = by_arm["a"], by_arm["b"]
    rounds, waiting, answered_at, sent_at, unanswered = [], "", None, None, False
    for number in range(0, len(a), 2):
        answers = a[number + 1], b[number + 1]
        if all(one.state == Message.State.DONE for one in answers):
            rounds.append(Round(a[number].text, answers[0].text, answers[1].text))
            answered_at = max(one.finished_at or one.created_at for one in answers)
        else:
            waiting, sent_at = a[number].text, a[number].created_at
            unanswered = any(one.state == Message.State.FAILED for one in answers)
    is_full = len(rounds) >= battle.arena.exchanges
    return BattleChat(tuple(rounds), waiting, unanswered, is_full, answered_at, sent_at)


# --- visitors -------------------------------------------------------------------------------------


def public_arenas() -> QuerySet[Arena]:
    """What everybody may see: open ones first."""
    shown = Arena.objects.filter(is_public=True, opened_at__isnull=False)
    return with_counts(shown).order_by("-is_open", "-opened_at")


def with_counts(arenas: QuerySet[Arena]) -> QuerySet[Arena]:
    """With how many votes count (``votes``)."""
    counted = Q(battles__state=Battle.State.VOTED, battles__visitor__excluded_at=None)
    return arenas.annotate(votes=Count("battles", filter=counted))


def visitor_of(arena: Arena, key: str) -> Visitor | None:
    return arena.visitors.filter(key=key).first() if key else None


def battle_of(visitor: Visitor, public_id: str) -> Battle | None:
    """The visitor's own battle."""
    return (
        visitor.battles.select_related(
            "arena",
            "dialogue",
            "turn__dialogue",
            "chat_system_a",
            "chat_system_b",
            "response_a__system",
            "response_b__system",
        )
        .filter(public_id=public_id)
        .first()
    )


def names_of(battle: Battle) -> tuple[str, str]:
    """Of the systems, A's first: only for who has voted."""
    if battle.chat_system_a is not None and battle.chat_system_b is not None:
        return battle.chat_system_a.name, battle.chat_system_b.name
    return battle.response_a.system.name, battle.response_b.system.name


# --- organisers -----------------------------------------------------------------------------------


def counted_battles(arena: Arena) -> QuerySet[Battle]:
    """Those whose vote counts."""
    return arena.battles.filter(state=Battle.State.VOTED, visitor__excluded_at=None)


def data_version(arena: Arena) -> str:
    """Where it is the same, the same votes count."""
    found = counted_battles(arena).aggregate(votes=Count("pk"), numbers=Sum("number", default=0))
    return f"{found['votes']}.{found['numbers']}"


@dataclass(frozen=True, slots=True)
class ArenaFigures:
    """``tokens``: input and output that were counted; ``unsettled``: calls without an answer, for
    which an endpoint may charge."""

    votes: int
    open: int
    void: int
    visitors: int
    calls: int
    tokens: int
    unsettled: int
    both_bad: int


def figures_of(arena: Arena) -> ArenaFigures:
    by_state = dict(arena.battles.order_by().values_list("state").annotate(count=Count("pk")))
    used = Message.objects.filter(conversation__battle__arena=arena).aggregate(
        calls=Sum("calls", default=0),
        read=Sum("input_tokens", default=0),
        written=Sum("output_tokens", default=0),
        unsettled=Sum("unsettled_calls", default=0),
    )
    return ArenaFigures(
        votes=counted_battles(arena).count(),
        open=by_state.get("open", 0),
        void=by_state.get("void", 0),
        visitors=arena.visitors.count(),
        calls=used["calls"],
        tokens=used["read"] + used["written"],
        unsettled=used["unsettled"],
        both_bad=counted_battles(arena).filter(vote=Battle.Vote.BOTH_BAD).count(),
    )


def anomalies_of(arena: Arena) -> dict[int, list[Anomaly]]:
    """By number of the visitor; excluded visitors' votes are looked at, too."""
    return vote_anomalies(_arena_votes(arena))


def _arena_votes(arena: Arena) -> Iterator[ArenaVote]:
    rows = arena.battles.filter(state=Battle.State.VOTED).order_by("pk")
    columns = ("visitor__number", "visitor__address", "vote", "decision_ms", "ended_at")
    for visitor, address, vote, took, at in rows.values_list(*columns).iterator(chunk_size=5_000):
        yield ArenaVote(visitor, address, vote, took / 1000, at.timestamp())


def visitors_of(arena: Arena) -> QuerySet[Visitor]:
    """With their ``votes``, how many of them were for A and B, and ``voided`` battles."""
    voted = Q(battles__state=Battle.State.VOTED)
    return arena.visitors.annotate(
        votes=Count("battles", filter=voted),
        for_a=Count("battles", filter=voted & Q(battles__vote=Battle.Vote.A)),
        for_b=Count("battles", filter=voted & Q(battles__vote=Battle.Vote.B)),
        voided=Count("battles", filter=Q(battles__state=Battle.State.VOID)),
    ).order_by("number")


def errors_of(arena: Arena) -> list[dict[str, Any]]:
    """The latest answers that did not come, for the organiser."""
    failed = Message.objects.filter(
        conversation__battle__arena=arena, state=Message.State.FAILED
    ).exclude(error__startswith="the battle is void")
    return list(
        failed.order_by("-pk").values("error", "created_at", "conversation__battle__number")[:5]
    )
