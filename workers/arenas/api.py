"""Arenas over the API: which there are, and, for organisers, their battles."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Path, Query, Router, Schema
from pydantic import Field

from annotations.campaigns.models import Arena, Battle
from annotations.campaigns.queries import arena as queries
from common.api.access import Token
from common.api.problems import Refused
from common.api.schemas import Page, Paging, page_of
from common.roles import is_organiser

router = Router(tags=["arenas"])


class ArenaPath(Schema):
    slug: str = Field(description="The arena's name in addresses.")


class ArenaOut(Schema):
    slug: str = Field(description="The arena's name in addresses.")
    name: str = Field(description="Its name on pages.")
    source: Literal["chat", "stored"] = Field(
        description="What visitors compare: chats with two models, or two stored responses."
    )
    state: Literal["new", "open", "closed"] = Field(
        description="`new`: it was never opened, and only organisers see it."
    )
    is_public: bool = Field(description="Whether everybody may vote; else those with its link.")
    corpus: str = Field(description="Whose responses, or personas, it has.")
    corpus_version: str = Field(description="Number and start of the content's digest.")
    votes: int = Field(description="Those that count.")
    opened_at: datetime | None = Field(description="When it was opened last; null: never.")
    closed_at: datetime | None = Field(description="When it was closed; null while it is open.")


class BattleOut(Schema):
    number: int = Field(description="From 1, in the order in which battles began.")
    visitor: str = Field(description="The visitor's pseudonym.")
    dialogue: str = Field(
        description="Of stored responses, where they answer; of chats, whose persona both played."
    )
    turn: int | None = Field(description="Of stored responses, the turn's number.")
    system_a: str = Field(description="The system that was shown first.")
    system_b: str = Field(description="The other one.")
    state: Literal["open", "voted", "void"] = Field(description="Void battles have no vote.")
    vote: Literal["a", "b", "tie", "both_bad"] | None = Field(description="Null without a vote.")
    counts: bool = Field(description="Whether the leaderboard has it: its visitor is not excluded.")
    decision_ms: int | None = Field(description="From when both could be read to the vote.")
    void_reason: str = Field(description="Why it is void; else empty.")
    created_at: datetime = Field(description="When it began.")
    ended_at: datetime | None = Field(description="When it ended.")


def arena_of(request: HttpRequest, slug: str) -> Arena:
    """Raises ``Refused`` (404) for an arena that is not there for this caller. A link that invites
    opens pages, and nothing here."""
    found = _visible(request).filter(slug=slug).select_related("version__corpus").first()
    if found is None:
        raise Refused(404, "There is no such arena, or you may not see it.", code="arena")
    return found


def _visible(request: HttpRequest) -> Any:
    organises = is_organiser(request.user)
    return queries.with_counts(Arena.objects.all()) if organises else queries.public_arenas()


@router.get(
    "/arenas",
    auth=Token("read", anybody=True),
    response=Page[ArenaOut],
    operation_id="list_arenas",
    summary="Arenas",
)
def list_arenas(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """By their names in addresses. Who is not an organiser sees public ones that were opened."""
    rows = _visible(request).select_related("version__corpus")
    return page_of(rows, "slug", paging, _arena)


@router.get(
    "/arenas/{slug:slug}",
    auth=Token("read", anybody=True),
    response=ArenaOut,
    operation_id="get_arena",
    summary="An arena",
)
def get_arena(request: HttpRequest, place: Path[ArenaPath]) -> dict[str, Any]:
    return _arena(arena_of(request, place.slug))


def _arena(arena: Any) -> dict[str, Any]:
    state = "open" if arena.is_open else "closed" if arena.opened_at else "new"
    same = ("slug", "name", "source", "is_public", "votes", "opened_at", "closed_at")
    return {
        **{name: getattr(arena, name) for name in same},
        "state": state,
        "corpus": arena.version.corpus.slug,
        "corpus_version": arena.version.label,
    }


@router.get(
    "/arenas/{slug:slug}/battles",
    auth=Token("organise"),
    response=Page[BattleOut],
    operation_id="list_battles",
    summary="Battles of an arena",
)
def list_battles(
    request: HttpRequest, place: Path[ArenaPath], paging: Query[Paging]
) -> dict[str, Any]:
    """In the order in which they began, with the systems' names."""
    arena = arena_of(request, place.slug)
    shown = ("visitor", "dialogue", "turn", "chat_system_a", "chat_system_b")
    rows = arena.battles.select_related(*shown, "response_a__system", "response_b__system")
    return page_of(rows, "number", paging, _battle)


def _battle(battle: Battle) -> dict[str, Any]:
    system_a, system_b = queries.names_of(battle)
    is_counted = battle.state == Battle.State.VOTED and battle.visitor.excluded_at is None
    same = ("number", "state", "decision_ms", "void_reason", "created_at", "ended_at")
    return {
        **{name: getattr(battle, name) for name in same},
        "visitor": battle.visitor.pseudonym,
        "dialogue": battle.dialogue.external_id,
        "turn": None if battle.turn is None else battle.turn.number,
        "system_a": system_a,
        "system_b": system_b,
        "vote": battle.vote or None,
        "counts": is_counted,
    }
