"""An arena's leaderboard, and its votes as preferences on the board of a corpus."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotations.campaigns.actions import arena as actions
from annotations.campaigns.actions import arena_publishing
from annotations.campaigns.models import Arena, Battle, ChatSystem
from annotations.models import Preference, Rater
from leaderboard.answers.preferences import PreferenceStanding
from leaderboard.results.computing import answer_of
from tests.campaigns.arenas import answer_both, made_arena, made_battle, next_battle

pytestmark = pytest.mark.django_db
TITLES = {"northwind": "# Heading\n", "southgate": ""}


@pytest.fixture(autouse=True)
def no_broker(notified: list[int]) -> None:
    """Workers are not told."""


def name_a(battle: Battle) -> str:
    return battle.chat_system_a.name if battle.chat_system_a else battle.response_a.system.name


def vote_for(battle: Battle, winner: str) -> None:
    actions.vote(battle, "tie" if winner == "tie" else "a" if name_a(battle) == winner else "b")


def voted(arena: Arena, winners: list[str]) -> None:
    """One visitor a vote."""
    for number, winner in enumerate(winners):
        battle = made_battle(arena, f"192.0.2.{number}")
        if arena.is_of_chats:
            actions.say(battle, "Hello.", "key")
            a, b = battle.chat_system_a.name, battle.chat_system_b.name
            answer_both(battle, f"{TITLES[a]}I am {a}.", f"{TITLES[b]}I am {b}.")
        vote_for(battle, winner)


WINNERS = ["northwind"] * 3 + ["southgate", "tie"]


def board(arena: Arena) -> PreferenceStanding:
    return answer_of(arena.version, "arena", arena=arena.pk)


@pytest.mark.parametrize("source", ["stored", "chat"])
def test_wins_of_either_order_are_counted_for_the_right_system(source: str) -> None:
    arena = made_arena(source, dialogues=9)
    voted(arena, WINNERS)
    document = board(arena)
    wins = {one.system: (one.battles, one.wins, one.ties) for one in document.systems}
    assert wins == {"northwind": (5, 3, 1), "southgate": (5, 1, 1)}
    # 3.5 of 5 won: log odds log(3.5 / 1.5) between them, centred
    strengths = {one.system: one.strength.value for one in document.systems}
    assert strengths["northwind"] - strengths["southgate"] == pytest.approx(0.8473, abs=1e-4)
    assert document.systems[0].strength.ci
    assert (document.votes, document.raters) == (5, 5)


def test_each_chat_is_a_cluster_of_its_own() -> None:
    arena = made_arena("chat", dialogues=1)
    voted(arena, WINNERS)
    assert board(arena).conversations == 5


def test_the_style_of_what_models_wrote_is_held_constant() -> None:
    arena = made_arena("chat")
    voted(arena, WINNERS)
    markdown = next(one for one in board(arena).style if one.feature == "Markdown")
    assert markdown.unit  # only northwind's answers have a heading


def test_excluded_visitors_open_and_void_battles_count_nowhere() -> None:
    arena = made_arena(dialogues=9)
    voted(arena, WINNERS)
    actions.exclude(arena, 1, "a program")
    made_battle(arena, "192.0.2.90")
    actions.leave(made_battle(arena, "192.0.2.91"))
    assert board(arena).votes == 4


def test_an_arena_without_votes_says_why_there_is_no_rating() -> None:
    document = board(made_arena())
    assert (document.systems, document.reason) == ((), "no two systems were compared")


# --- the page -------------------------------------------------------------------------------------


def shown(client: Client, arena: Arena) -> str:
    response = client.get(reverse("arena-leaderboard", args=[arena.slug]))
    assert response.status_code == 200
    return response.content.decode()


def test_the_leaderboard_follows_the_votes() -> None:
    arena, visitor = made_arena(dialogues=9), Client()
    voted(arena, WINNERS)
    page = shown(visitor, arena)
    assert "5 votes on" in page
    assert "northwind" in page
    voted(arena, ["southgate"])
    assert "6 votes on" in shown(visitor, arena)


def test_the_leaderboard_of_an_arena_by_invitation_is_not_there_for_others() -> None:
    arena = made_arena(is_public=False)
    assert Client().get(reverse("arena-leaderboard", args=[arena.slug])).status_code == 404


# --- publishing -----------------------------------------------------------------------------------


def test_votes_on_stored_responses_become_preferences_of_their_corpus() -> None:
    arena = made_arena(dialogues=9)
    voted(arena, WINNERS)
    live = board(arena)
    actions.close_arena(arena)
    assert arena_publishing.publish(arena) == 5
    arena.version.refresh_from_db()
    published = answer_of(arena.version, "preferences")
    assert published.aspect == f"arena {arena.slug}"
    assert [one.strength for one in published.systems] == [one.strength for one in live.systems]
    # again: replaced, not doubled
    assert arena_publishing.publish(arena) == 5
    assert Preference.objects.count() == 5
    arena_publishing.unpublish(arena)
    assert (Preference.objects.count(), Rater.objects.count()) == (0, 0)


def test_chats_become_a_corpus_whose_board_is_that_of_the_arena() -> None:
    arena = made_arena("chat")
    voted(arena, WINNERS)
    live = board(arena)
    actions.close_arena(arena)
    version = arena_publishing.make_corpus(arena).version
    assert (version.corpus.slug, version.corpus.is_public) == (f"{arena.slug}-votes", False)
    published = answer_of(version, "preferences")
    assert published.level == "dialogue"
    assert [(one.system, one.strength) for one in published.systems] == [
        (one.system, one.strength) for one in live.systems
    ]
    texts = {one.text for one in version.systems.get(name="northwind").responses.all()}
    assert texts == {"# Heading\nI am northwind."}
    # the same votes are the same version
    assert arena_publishing.make_corpus(Arena.objects.get()).version == version


def test_an_open_arena_and_one_without_votes_are_not_published() -> None:
    arena = made_arena(dialogues=9)
    voted(arena, WINNERS)
    with pytest.raises(actions.ArenaRefused, match="Close the arena first"):
        arena_publishing.publish(arena)
    other = made_arena(is_open=False)
    with pytest.raises(actions.ArenaRefused, match="No vote counts yet"):
        arena_publishing.publish(other)
    assert not Preference.objects.exists()


def test_a_published_arena_is_not_deleted() -> None:
    arena = made_arena()
    actions.vote(made_battle(arena), "a")
    actions.close_arena(arena)
    arena_publishing.publish(arena)
    with pytest.raises(actions.ArenaRefused, match="published"):
        actions.delete(arena, arena.slug)


def test_votes_that_are_ties_alone_have_ratings_without_intervals() -> None:
    arena = made_arena("chat")
    arena.chat_systems.add(ChatSystem.objects.create(name="eastfield", instructions=""))
    visitor = made_battle(arena).visitor
    for _number in range(12):
        battle = next_battle(visitor)
        actions.say(battle, "Hello.", "key")
        answer_both(battle)
        actions.vote(battle, "tie")
    document = board(arena)
    assert sum(one.battles for one in document.meetings) == 12
    assert [one.strength.value for one in document.systems] == pytest.approx([0, 0, 0])
    assert {one.strength.reason for one in document.systems} == {
        "an interval needs votes that differ: these are ties alone"
    }
