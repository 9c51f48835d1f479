"""Arenas through the API."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AbstractUser

from annotations.campaigns.actions import arena as actions
from annotations.campaigns.models import Arena
from common.roles import ORGANISER
from leaderboard.queries.arena_board import arena_leaderboard
from leaderboard.results.computing import answer_of
from tests.api_client import Program, all_items, program_of
from tests.campaigns.arenas import answer_both, made_arena, made_battle
from tests.campaigns.sets import made_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_broker(notified: list[int]) -> None:
    """Workers are not told."""


@pytest.fixture
def organiser() -> Program:
    user: AbstractUser = made_user("", ORGANISER)
    return program_of(user, "read", "organise")


def voted(arena: Arena, *votes: str) -> None:
    """One visitor a vote."""
    for number, vote in enumerate(votes):
        actions.vote(made_battle(arena, f"192.0.2.{number}"), vote)


def test_everybody_sees_public_arenas_that_were_opened_and_organisers_all(
    organiser: Program,
) -> None:
    voted(made_arena(slug="b-public", dialogues=9), "a", "tie")
    made_arena(slug="a-by-link", is_public=False)
    made_arena(slug="c-new", is_open=False, opened_at=None)
    (shown,) = all_items(Program(), "/arenas")
    assert (shown["slug"], shown["state"], shown["votes"]) == ("b-public", "open", 2)
    states = [(one["slug"], one["state"]) for one in all_items(organiser, "/arenas", limit=1)]
    assert states == [("a-by-link", "open"), ("b-public", "open"), ("c-new", "new")]
    refused = Program().get("/arenas/a-by-link")
    assert (refused.status_code, refused.json()["code"]) == (404, "arena")


def test_battles_have_systems_as_shown_votes_and_whether_they_count(organiser: Program) -> None:
    arena = made_arena(slug="duel", dialogues=9)
    voted(arena, "a", "both_bad")
    actions.exclude(arena, 2, "a program")
    made_battle(arena, "192.0.2.9")
    actions.leave(made_battle(arena, "192.0.2.10"))
    items = all_items(organiser, "/arenas/duel/battles", limit=3)
    assert [(one["number"], one["state"], one["vote"], one["counts"]) for one in items] == [
        (1, "voted", "a", True),
        (2, "voted", "both_bad", False),
        (3, "open", None, False),
        (4, "void", None, False),
    ]
    first = arena.battles.get(number=1)
    assert (items[0]["system_a"], items[0]["system_b"], items[0]["turn"]) == (
        first.response_a.system.name,
        first.response_b.system.name,
        first.turn.number,
    )
    assert items[0]["visitor"] == "visitor 1"
    assert items[3]["void_reason"] == "the visitor left"


def test_battles_of_chats_have_no_turn(organiser: Program) -> None:
    arena = made_arena("chat", slug="duel")
    battle = made_battle(arena)
    actions.say(battle, "Hello.", "key")
    answer_both(battle)
    actions.vote(battle, "b")
    (one,) = all_items(organiser, "/arenas/duel/battles")
    assert {one["system_a"], one["system_b"]} == {"northwind", "southgate"}
    assert (one["turn"], one["vote"], one["dialogue"]) == (None, "b", battle.dialogue.external_id)


def test_the_leaderboard_is_that_of_the_page() -> None:
    arena = made_arena(slug="duel", dialogues=9)
    voted(arena, "a", "b", "tie")
    document = Program().get("/arenas/duel/leaderboard").json()
    board = answer_of(arena.version, arena_leaderboard, arena=arena.pk)
    assert (document["arena"], document["votes"], document["ties"]) == ("duel", 3, 1)
    assert [(one["system"], one["strength"]["value"]) for one in document["systems"]] == [
        (one.system, one.strength.value) for one in board.systems
    ]
