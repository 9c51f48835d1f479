"""Arenas as rows: what a battle is of, who may vote, and how often."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotations.campaigns.actions import arena as actions
from annotations.campaigns.actions.chat import SystemInUse, save_chat_system
from annotations.campaigns.models import Arena, Battle, ChatSystem, Message
from annotations.campaigns.queries.arena import (
    battle_chat,
    counted_battles,
    data_version,
    figures_of,
    names_of,
)
from annotations.campaigns.queries.chat import persona_played, system_of
from annotations.corpora.actions import CorpusHasResults, delete_corpus
from annotations.models import Dialogue
from tests.campaigns.arenas import answer_both, made_arena, made_battle, next_battle
from tests.challenges.sets import open_round

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_broker(notified: list[int]) -> None:
    """Workers are not told."""


# --- opening --------------------------------------------------------------------------------------


def test_an_arena_does_not_show_references_that_a_round_hides() -> None:
    arena = made_arena(is_open=False)
    open_round(arena.version, references="hidden")
    with pytest.raises(actions.ArenaRefused, match="hides the references"):
        actions.open_arena(arena)
    arena.refresh_from_db()
    assert not arena.is_open


# --- battles begin --------------------------------------------------------------------------------


def test_a_battle_of_stored_responses_shows_two_of_one_turn() -> None:
    battle = made_battle(made_arena())
    assert battle.response_a.turn_id == battle.response_b.turn_id == battle.turn_id
    assert battle.response_a.system_id != battle.response_b.system_id
    assert battle.dialogue_id == battle.turn.dialogue_id


def test_a_visitor_compares_no_pair_twice_and_is_told_when_all_are_compared() -> None:
    battle = made_battle(made_arena(dialogues=3))
    visitor, turns = battle.visitor, set()
    for _number in range(3):
        battle = next_battle(visitor)
        turns.add(battle.turn_id)
        actions.vote(battle, "tie")
    assert len(turns) == 3
    with pytest.raises(actions.NothingToCompare):
        next_battle(visitor)


def test_a_chat_is_with_two_systems_that_play_one_persona() -> None:
    battle = made_battle(made_arena("chat"))
    one, other = battle.conversations.order_by("arm")
    assert {system_of(one), system_of(other)} == set(battle.arena.chat_systems.all())
    assert system_of(one) == battle.chat_system_a
    assert persona_played(one) == persona_played(other) == battle.dialogue.persona


def test_a_visitor_has_one_battle_at_a_time_and_the_database_ensures_it() -> None:
    battle = made_battle(made_arena())
    assert next_battle(battle.visitor) == battle
    with pytest.raises(IntegrityError), transaction.atomic():
        Battle.objects.create(
            arena=battle.arena,
            visitor=battle.visitor,
            number=99,
            seed=1,
            dialogue=battle.dialogue,
            turn=battle.turn,
            response_a=battle.response_a,
            response_b=battle.response_b,
        )


@pytest.mark.parametrize(
    ("limit", "own_address"), [("battles_per_visitor", False), ("battles_per_address", True)]
)
def test_a_visitor_and_an_address_have_so_many_battles_a_day(limit: str, own_address: bool) -> None:
    arena = made_arena(dialogues=9, **{limit: 2})
    visitor = actions.join(arena, "192.0.2.1")
    for _number in range(2):
        actions.vote(actions.begin(arena, visitor, "192.0.2.1"), "a")
    if own_address:  # a bot that throws its cookie away
        visitor = actions.join(arena, "192.0.2.2")
    with pytest.raises(actions.TooMany):
        actions.begin(arena, visitor, "192.0.2.1")
    assert arena.battles.count() == 2
    other = actions.join(arena, "192.0.2.3")
    assert actions.begin(arena, other, "192.0.2.3").number == 3


def test_new_visitors_of_one_address_are_limited() -> None:
    arena = made_arena(battles_per_address=2)
    actions.join(arena, "192.0.2.1")
    actions.join(arena, "192.0.2.1")
    with pytest.raises(actions.TooMany):
        actions.join(arena, "192.0.2.1")
    assert arena.visitors.count() == 2


def test_the_address_itself_is_not_stored() -> None:
    visitor = actions.join(made_arena(), "192.0.2.77")
    assert "192.0.2.77" not in visitor.address
    assert visitor.address == actions.hashed_address("192.0.2.77")


# --- talking --------------------------------------------------------------------------------------


def test_both_systems_get_what_the_visitor_says_once() -> None:
    battle = made_battle(made_arena("chat"))
    for _again in range(2):
        actions.say(battle, "Hello.", "key-1")
    said = Message.objects.filter(conversation__battle=battle).order_by("conversation__arm")
    assert [(one.speaker, one.text, one.state) for one in said.filter(number=0)] == [
        ("A", "Hello.", "done")
    ] * 2
    assert [one.state for one in said.filter(number=1)] == ["pending"] * 2
    assert Arena.objects.get().answers_requested == 2


def test_answers_are_shown_together() -> None:
    battle = made_battle(made_arena("chat"))
    actions.say(battle, "Hello.", "key-1")
    Message.objects.filter(conversation__arm="a", number=1).update(state="done", text="Quick.")
    chat = battle_chat(battle)
    assert (chat.rounds, chat.waiting, chat.may_vote) == ((), "Hello.", False)
    Message.objects.filter(conversation__arm="b", number=1).update(state="done", text="Slow.")
    assert [(one.text, one.a, one.b) for one in battle_chat(battle).rounds] == [
        ("Hello.", "Quick.", "Slow.")
    ]


def test_nothing_is_said_while_an_answer_is_waited_for() -> None:
    battle = made_battle(made_arena("chat"))
    actions.say(battle, "Hello.", "key-1")
    with pytest.raises(actions.NotReady):
        actions.say(battle, "Are you there?", "key-2")


def test_a_chat_has_its_full_length() -> None:
    battle = made_battle(made_arena("chat", exchanges=1))
    actions.say(battle, "Hello.", "key-1")
    answer_both(battle)
    with pytest.raises(actions.NotReady, match="full length"):
        actions.say(battle, "And?", "key-2")


@pytest.mark.parametrize("text", ["", "   ", "x" * 100_000, "nul \0 here"])
def test_what_cannot_be_stored_is_not_sent(text: str) -> None:
    battle = made_battle(made_arena("chat"))
    with pytest.raises(ValueError, match=r"^(is|has|must|holds|contains|may)"):
        actions.say(battle, text, "key")
    assert Arena.objects.get().answers_requested == 0


def test_the_budget_of_answers_is_never_passed() -> None:
    battle = made_battle(made_arena("chat", answers_budget=3))
    actions.say(battle, "Hello.", "key-1")
    answer_both(battle)
    with pytest.raises(actions.TooMany, match="vote on what was said"):
        actions.say(battle, "And?", "key-2")
    assert Arena.objects.get().answers_requested == 2
    actions.vote(battle, "a")
    with pytest.raises(actions.TooMany, match="budget"):
        next_battle(battle.visitor)
    with pytest.raises(IntegrityError), transaction.atomic():
        Arena.objects.update(answers_requested=4)


def test_all_visitors_together_ask_for_so_many_answers_a_minute() -> None:
    arena = made_arena("chat", answers_per_minute=2)
    actions.say(made_battle(arena), "Hello.", "key-1")
    late = made_battle(arena)
    with pytest.raises(actions.TooMany, match="in a minute"):
        actions.say(late, "Hello.", "key-2")
    assert not Message.objects.filter(conversation__battle=late).exists()


# --- voting ---------------------------------------------------------------------------------------


def test_a_battle_has_one_vote() -> None:
    battle = made_battle(made_arena())
    actions.vote(battle, "a")
    actions.vote(battle, "a")  # the same request again
    with pytest.raises(actions.BattleOver):
        actions.vote(battle, "b")
    assert Battle.objects.get().vote == "a"


def test_nobody_votes_before_both_have_answered() -> None:
    battle = made_battle(made_arena("chat"))
    for _state in ("nothing said", "one answer missing"):
        with pytest.raises(actions.NotReady):
            actions.vote(battle, "a")
        actions.say(battle, "Hello.", "key-1")
    answer_both(battle)
    actions.vote(battle, "both_bad")
    assert Battle.objects.get().vote == "both_bad"
    with pytest.raises(actions.BattleOver):
        actions.say(battle, "And?", "key-2")


def test_a_battle_whose_model_does_not_answer_is_void() -> None:
    battle = made_battle(made_arena("chat"))
    actions.say(battle, "Hello.", "key-1")
    assert not actions.void_unanswered(battle)
    Message.objects.filter(conversation__arm="a", number=1).update(state="failed", error="500")
    assert actions.void_unanswered(battle)
    with pytest.raises(actions.BattleOver):
        actions.vote(battle, "b")
    assert not Message.objects.filter(state="pending").exists()
    assert (figures_of(battle.arena).votes, figures_of(battle.arena).void) == (0, 1)


def test_closing_the_arena_voids_battles_under_way() -> None:
    battle = made_battle(made_arena("chat"))
    actions.say(battle, "Hello.", "key-1")
    actions.close_arena(battle.arena)
    for refused in (
        lambda: actions.vote(battle, "a"),
        lambda: actions.say(battle, "And?", "key-2"),
    ):
        with pytest.raises(actions.BattleOver):
            refused()
    with pytest.raises(actions.ArenaClosed):
        next_battle(battle.visitor)
    assert not Message.objects.filter(state="pending").exists()


def moved_back(battle: Battle, hours: int) -> None:
    """As if it had begun, and all had been said, so long ago."""
    at = timezone.now() - timedelta(hours=hours)
    Battle.objects.filter(pk=battle.pk).update(created_at=at)
    Message.objects.filter(conversation__battle=battle).update(created_at=at)


def test_a_battle_that_nobody_goes_on_with_ends_after_a_day() -> None:
    arena = made_arena("chat")
    silent, talking, young = (made_battle(arena, f"192.0.2.{number}") for number in range(3))
    for battle, hours in ((silent, 25), (talking, 25), (young, 23)):
        actions.say(battle, "Hello.", "key-1")
        answer_both(battle)
        moved_back(battle, hours)
    actions.say(talking, "Still here.", "key-2")
    voted = made_battle(arena, "192.0.2.9")
    actions.say(voted, "Hello.", "key-1")
    answer_both(voted)
    actions.vote(voted, "tie")
    moved_back(voted, 25)
    assert actions.end_abandoned() == 1
    assert [one.state for one in Battle.objects.order_by("number")] == [
        "void",
        *("open",) * 2,
        "voted",
    ]
    assert next_battle(silent.visitor).pk != silent.pk


def test_a_battle_whose_model_failed_ends_though_its_visitor_is_gone() -> None:
    battle = made_battle(made_arena("chat"))
    actions.say(battle, "Hello.", "key-1")
    Message.objects.filter(conversation__arm="a", number=1).update(state="failed", error="500")
    assert actions.end_abandoned() == 1
    battle.refresh_from_db()
    assert (battle.state, battle.void_reason) == ("void", "a model did not answer")
    assert not Message.objects.filter(state="pending").exists()


def test_votes_of_an_excluded_visitor_do_not_count_until_taken_back() -> None:
    battle = made_battle(made_arena())
    actions.vote(battle, "a")
    arena, before = battle.arena, data_version(battle.arena)
    actions.exclude(arena, 1, "a program")
    assert not counted_battles(arena).exists()
    assert data_version(arena) != before
    actions.exclude(arena, 1, "")
    assert data_version(arena) == before


def test_names_are_in_the_order_in_which_the_systems_were_shown() -> None:
    battle = made_battle(made_arena())
    assert names_of(battle) == (battle.response_a.system.name, battle.response_b.system.name)


# --- what it keeps --------------------------------------------------------------------------------


def test_a_model_that_was_judged_in_an_arena_stays_what_it_is() -> None:
    made_arena("chat", name="Two models")
    system = ChatSystem.objects.first()
    system.instructions = "Be rude."
    with pytest.raises(SystemInUse) as refusal:
        save_chat_system(system)
    assert refusal.value.campaigns == ["Two models"]


def test_a_corpus_with_an_arena_is_not_deleted() -> None:
    arena = made_arena()
    with pytest.raises(CorpusHasResults, match=arena.slug):
        delete_corpus(arena.version.corpus, force=True)


def test_an_arena_with_votes_is_deleted_only_closed_and_by_its_typed_address() -> None:
    battle = made_battle(made_arena())
    arena = battle.arena
    actions.vote(battle, "a")
    for typed in ("", arena.slug):  # it is open
        with pytest.raises(actions.ArenaRefused):
            actions.delete(arena, typed)
    actions.close_arena(arena)
    with pytest.raises(actions.ArenaRefused):
        actions.delete(arena, "")
    actions.delete(arena, arena.slug)
    assert (Arena.objects.count(), Battle.objects.count(), Dialogue.objects.count()) == (0, 0, 3)
