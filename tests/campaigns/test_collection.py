"""Rooms: who meets whom, who writes when, how a dialogue ends, and which corpus comes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.conf import settings
from django.db import transaction
from django.db.utils import IntegrityError
from django.utils import timezone

from annotations.campaigns.actions import collection as rooms
from annotations.campaigns.actions import harvest
from annotations.campaigns.actions.collection import ChatClosed, NoFreeChat, NotYourChat, OutOfTurn
from annotations.campaigns.models import Campaign, Participation, Room
from annotations.campaigns.queries import collection as queries
from annotations.formats.importers.problems import ImportFailed
from annotations.models import Corpus, CorpusVersion
from annotations.personas import load_knowledge, make_pair
from tests.at_once import at_once
from tests.campaigns.sets import made_campaign, made_raters

HOSTILE = "<script>alert(1)</script> \N{RIGHT-TO-LEFT OVERRIDE}=1+1 \N{FAMILY}\nsecond line"


def collection(**fields: object) -> Campaign:
    return made_campaign("collection", **fields)  # type: ignore[arg-type]


def pair(campaign: Campaign) -> tuple[Participation, Participation, Room]:
    a, b = made_raters(campaign, 2)
    rooms.meet(a)
    return a, b, rooms.meet(b)


def write(a: Participation, b: Participation, room: Room, texts: list[str]) -> None:
    for number, text in enumerate(texts):
        rooms.say((a, b)[number % 2], room.public_id, text, f"key-{room.pk}-{number}")


def finished(campaign: Campaign, texts: list[str] | None = None) -> Room:
    a, b, room = pair(campaign)
    write(a, b, room, texts or [f"line {number}" for number in range(campaign.utterances)])
    room.refresh_from_db()
    assert room.state == Room.State.FINISHED
    return room


def age(room: Room, **seconds_ago: float) -> None:
    now = timezone.now()
    Room.objects.filter(pk=room.pk).update(
        **{field: now - timedelta(seconds=seconds) for field, seconds in seconds_ago.items()}
    )


# --- meeting --------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_first_waits_and_the_second_is_the_partner() -> None:
    a, b = made_raters(collection(), 2)
    waiting = rooms.meet(a)
    assert (waiting.state, waiting.rater_b) == (Room.State.WAITING, None)
    met = rooms.meet(b)
    assert (met.pk, met.state, met.rater_a_id, met.rater_b_id) == (
        waiting.pk,
        Room.State.TALKING,
        a.pk,
        b.pk,
    )


@pytest.mark.django_db
def test_nobody_meets_oneself_and_who_is_in_a_room_stays_in_it() -> None:
    a, b = made_raters(collection(), 2)
    assert rooms.meet(a).pk == rooms.meet(a).pk
    room = rooms.meet(b)
    assert {rooms.meet(a).pk, rooms.meet(b).pk} == {room.pk}
    assert Room.objects.count() == 1


@pytest.mark.django_db
def test_raters_of_another_campaign_are_not_met() -> None:
    [a], [b] = made_raters(collection(), 1), made_raters(collection(), 1)
    assert rooms.meet(a).pk != rooms.meet(b).pk


@pytest.mark.django_db
def test_the_personas_are_drawn_from_the_campaigns_seed_and_the_rooms_number() -> None:
    a, b, c = made_raters(collection(seed=11), 3)
    rooms.meet(a)
    rooms.meet(b)
    second = rooms.meet(c)
    drawn_a, drawn_b = make_pair(load_knowledge(), "11/2")
    assert (second.number, second.persona_a, second.persona_b) == (
        2,
        list(drawn_a.sentences),
        list(drawn_b.sentences),
    )


@pytest.mark.django_db
def test_who_has_stopped_asking_is_not_waiting_any_more() -> None:
    a, b = made_raters(collection(), 2)
    forsaken = rooms.meet(a)
    age(forsaken, seen_a_at=rooms.WAITING_SECONDS + 1)
    other = rooms.meet(b)
    forsaken.refresh_from_db()
    assert (other.state, forsaken.state) == (Room.State.WAITING, Room.State.ABANDONED)
    assert rooms.meet(a).pk == other.pk


@pytest.mark.django_db
def test_no_more_rooms_than_dialogues_are_wanted() -> None:
    campaign = collection(dialogues_per_system=1)
    a, _, room = pair(campaign)
    [c] = made_raters(campaign, 1)
    with pytest.raises(NoFreeChat, match="enough"):
        rooms.meet(c)
    rooms.leave(a, room.public_id)
    assert rooms.meet(c).state == Room.State.WAITING


HOURS = 3600


@pytest.mark.django_db
def test_a_dialogue_that_both_have_deserted_makes_room_for_another() -> None:
    campaign = collection(dialogues_per_system=1)
    _, _, deserted = pair(campaign)
    age(deserted, seen_a_at=6 * HOURS + 1, seen_b_at=7 * HOURS)
    [c] = made_raters(campaign, 1)
    assert rooms.meet(c).state == Room.State.WAITING
    deserted.refresh_from_db()
    assert (deserted.state, deserted.end_reason) == (
        Room.State.ABANDONED,
        "both stayed away for more than 6 hours",
    )


@pytest.mark.django_db
@pytest.mark.parametrize(("a", "b"), [(5 * HOURS, 5 * HOURS), (9 * HOURS, 60), (60, 9 * HOURS)])
def test_a_dialogue_that_one_of_both_may_come_back_to_keeps_its_place(a: int, b: int) -> None:
    campaign = collection(dialogues_per_system=1)
    _, _, room = pair(campaign)
    age(room, seen_a_at=a, seen_b_at=b)
    [c] = made_raters(campaign, 1)
    with pytest.raises(NoFreeChat, match="enough"):
        rooms.meet(c)


@pytest.mark.django_db
def test_a_dialogue_that_is_left_out_makes_room_for_another() -> None:
    campaign = collection(dialogues_per_system=1, utterances=2)
    room = finished(campaign)
    [c] = made_raters(campaign, 1)
    assert harvest.leave_out(campaign, room.public_id, True)
    assert rooms.meet(c).state == Room.State.WAITING


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"state": "paused"}, "paused"),
        ({"state": "closed"}, "closed"),
        ({"closes_at": timezone.now() - timedelta(hours=1)}, "closed"),
        ({"opens_at": timezone.now() + timedelta(hours=1)}, "not_open"),
    ],
)
def test_nobody_meets_outside_the_campaigns_time(fields: dict[str, object], why: str) -> None:
    campaign = collection()
    [a] = made_raters(campaign, 1)
    Campaign.objects.filter(pk=campaign.pk).update(**fields)
    with pytest.raises(NoFreeChat, match=why):
        rooms.meet(a)


@pytest.mark.django_db
def test_an_excluded_rater_meets_nobody_and_is_met_by_nobody() -> None:
    a, b, c = made_raters(collection(), 3)
    rooms.meet(a)
    for rater in (a, b):
        Participation.objects.filter(pk=rater.pk).update(
            state="excluded", exclusion_reason="random answers", excluded_at=timezone.now()
        )
    with pytest.raises(NoFreeChat, match="excluded"):
        rooms.meet(b)
    assert rooms.meet(c).state == Room.State.WAITING


@pytest.mark.django_db(transaction=True)
def test_twenty_who_meet_at_once_make_ten_pairs() -> None:
    raters = made_raters(collection(), 20)
    together(len(raters), lambda place: rooms.meet(raters[place]))
    found = list(Room.objects.all())
    assert [room.state for room in found] == [Room.State.TALKING] * 10
    in_rooms = Counter(rater for room in found for rater in (room.rater_a_id, room.rater_b_id))
    # Everyone once, so no one with oneself
    assert in_rooms == Counter(rater.pk for rater in raters)


@pytest.mark.django_db(transaction=True)
def test_one_who_comes_ten_times_at_once_waits_in_one_room() -> None:
    [a] = made_raters(collection(), 1)
    together(10, lambda _: rooms.meet(a))
    assert Room.objects.count() == 1


def together(number: int, act: Callable[[int], object]) -> list[object]:
    """What ``act`` returned in each of so many threads that start at one moment; none of them may
    raise."""
    results = at_once(*[partial(act, place) for place in range(number)])
    assert not [one for one in results if isinstance(one, Exception)]
    return results


# --- talking --------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_begins_and_they_write_in_turn() -> None:
    a, b, room = pair(collection())
    with pytest.raises(OutOfTurn):
        rooms.say(b, room.public_id, "Me first.", "key-b0")
    rooms.say(a, room.public_id, "Hello.", "key-a0")
    with pytest.raises(OutOfTurn):
        rooms.say(a, room.public_id, "Hello again.", "key-a1")
    rooms.say(b, room.public_id, "Good evening.", "key-b1")
    assert [(line.number, line.speaker, line.text) for line in room.lines.all()] == [
        (0, "A", "Hello."),
        (1, "B", "Good evening."),
    ]


@pytest.mark.django_db
def test_the_same_key_is_the_same_line_even_after_the_end() -> None:
    a, b, room = pair(collection(utterances=2))
    first = rooms.say(a, room.public_id, "Hello.", "key-a")
    rooms.say(b, room.public_id, "Bye.", "key-b")
    again = rooms.say(a, room.public_id, "Hello.", "key-a")
    assert (first.is_new, again.is_new, again.line.pk) == (True, False, first.line.pk)
    assert room.lines.count() == 2


@pytest.mark.django_db
def test_a_key_of_the_partners_is_not_taken_for_ones_own() -> None:
    a, b, room = pair(collection())
    rooms.say(a, room.public_id, "Hello.", "key")
    with pytest.raises(OutOfTurn):
        rooms.say(b, room.public_id, "Good evening.", "key")


@pytest.mark.django_db
def test_the_last_utterance_finishes_the_dialogue_and_no_more_is_taken() -> None:
    campaign = collection(utterances=4)
    a, b, room = pair(campaign)
    write(a, b, room, ["1", "2", "3"])
    assert rooms.say(b, room.public_id, "4", "key-4").room.state == Room.State.FINISHED
    with pytest.raises(ChatClosed):
        rooms.say(a, room.public_id, "5", "key-5")
    room.refresh_from_db()
    assert room.finished_at is not None
    assert room.lines.count() == 4


@pytest.mark.django_db
def test_nothing_is_said_while_waiting_or_in_a_strangers_room() -> None:
    a, _, room = pair(collection())
    [c] = made_raters(a.campaign, 1)
    with pytest.raises(NotYourChat):
        rooms.say(c, room.public_id, "Hello.", "key")
    with pytest.raises(ChatClosed):
        rooms.say(c, rooms.meet(c).public_id, "Hello.", "key")


@pytest.mark.django_db(transaction=True)
def test_one_line_sent_ten_times_at_once_is_one_line() -> None:
    a, _, room = pair(collection())
    said = together(10, lambda _: rooms.say(a, room.public_id, "Hello.", "the-one-key"))
    assert sum(one.is_new for one in said) == 1  # type: ignore[attr-defined]
    assert room.lines.count() == 1


@pytest.mark.django_db(transaction=True)
def test_ten_different_lines_sent_at_once_in_one_turn_are_one_line() -> None:
    a, _, room = pair(collection())

    def speak(place: int) -> str:
        try:
            rooms.say(a, room.public_id, f"line {place}", f"key-{place}")
        except OutOfTurn:
            return "out of turn"
        return "said"

    assert Counter(together(10, speak)) == {"said": 1, "out of turn": 9}
    assert room.lines.count() == 1


@pytest.mark.django_db
def test_the_database_itself_keeps_the_order_of_lines() -> None:
    a, _, room = pair(collection())
    rooms.say(a, room.public_id, "Hello.", "key")
    with pytest.raises(IntegrityError), transaction.atomic():
        room.lines.create(number=0, speaker="B", text="Me too.", key="other")


# --- leaving --------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_who_stops_waiting_leaves_an_abandoned_room_and_may_wait_again() -> None:
    [a] = made_raters(collection(), 1)
    room = rooms.leave(a, rooms.meet(a).public_id)
    assert (room.state, room.end_reason) == (Room.State.ABANDONED, "left before a partner came")
    assert rooms.meet(a).pk != room.pk


@pytest.mark.django_db
def test_leaving_ends_the_dialogue_for_both_and_says_who_left() -> None:
    a, b, room = pair(collection())
    rooms.say(a, room.public_id, "Hello.", "key")
    left = rooms.leave(b, room.public_id)
    assert (left.state, left.end_reason) == (Room.State.ABANDONED, "B left the dialogue")
    with pytest.raises(ChatClosed):
        rooms.say(b, room.public_id, "Wait.", "key-2")
    assert rooms.meet(a).pk != room.pk


@pytest.mark.django_db
def test_a_silent_partner_is_the_reason_when_the_other_ends_it() -> None:
    a, _, room = pair(collection())
    age(room, seen_b_at=settings.RATING_LEASE_SECONDS + 60)
    assert queries.chat_view(queries.room_of(a, room.public_id), a).partner_away
    minutes = int(settings.RATING_LEASE_SECONDS + 60) // 60
    assert rooms.leave(a, room.public_id).end_reason == f"B was silent for {minutes} minutes"


@pytest.mark.django_db
def test_a_finished_dialogue_cannot_be_left() -> None:
    room = finished(collection(utterances=2))
    assert rooms.leave(room.rater_a, room.public_id).state == Room.State.FINISHED


@pytest.mark.django_db
def test_an_open_page_keeps_its_rater_present_at_a_write_every_few_seconds(
    django_assert_num_queries: Callable[..., object],
) -> None:
    a, _, room = pair(collection())
    age(room, seen_a_at=rooms.PRESENCE_SECONDS + 1)
    found = queries.room_of(a, room.public_id)
    rooms.note_presence(found, a, timezone.now())
    assert timezone.now() - Room.objects.get(pk=room.pk).seen_a_at < timedelta(seconds=2)
    with django_assert_num_queries(0):
        rooms.note_presence(found, a, timezone.now())


# --- the corpus -----------------------------------------------------------------------------------


@pytest.mark.django_db
def test_bs_lines_become_the_turns_of_a_private_corpus() -> None:
    campaign = collection(utterances=4)
    texts = ["Hi.", HOSTILE, "=A1", "Bye."]
    room = finished(campaign, texts)
    outcome = harvest.make_corpus(campaign, "ours", "Ours")
    version = outcome.version
    assert (version.corpus.slug, version.corpus.name, version.corpus.is_public) == (
        "ours",
        "Ours",
        False,
    )
    dialogue = version.dialogues.get()
    assert (dialogue.external_id, dialogue.persona, dialogue.partner_persona) == (
        "dialogue-1",
        room.persona_b,
        room.persona_a,
    )
    assert [
        (turn.number, turn.context, turn.references) for turn in dialogue.turns.order_by("number")
    ] == [
        (0, [["A", "Hi."]], [HOSTILE]),
        (1, [["A", "Hi."], ["B", HOSTILE], ["A", "=A1"]], ["Bye."]),
    ]
    people = version.systems.get()
    assert (people.name, people.kind) == ("people", "human")
    said = people.responses.order_by("turn__number").values_list("text", flat=True)
    assert list(said) == [HOSTILE, "Bye."]


@pytest.mark.django_db
def test_the_same_dialogues_are_the_same_version_and_more_are_the_next() -> None:
    campaign = collection(utterances=2)
    finished(campaign)
    first = harvest.make_corpus(campaign, "ours", "Ours")
    again = harvest.make_corpus(campaign)
    finished(campaign)
    more = harvest.make_corpus(campaign)
    assert [outcome.created for outcome in (first, again, more)] == [True, False, True]
    assert [outcome.version.number for outcome in (first, again, more)] == [1, 1, 2]
    assert more.version.dialogues.count() == 2


@pytest.mark.django_db
def test_abandoned_and_left_out_dialogues_stay_out() -> None:
    campaign = collection(utterances=2)
    kept, dropped = finished(campaign), finished(campaign)
    a, _, room = pair(campaign)
    rooms.leave(a, room.public_id)
    harvest.leave_out(campaign, dropped.public_id, True)
    version = harvest.make_corpus(campaign, "ours", "Ours").version
    assert [dialogue.external_id for dialogue in version.dialogues.all()] == [
        f"dialogue-{kept.number}"
    ]


@pytest.mark.django_db
def test_only_a_finished_dialogue_is_left_out() -> None:
    campaign = collection()
    _, _, room = pair(campaign)
    assert not harvest.leave_out(campaign, room.public_id, True)


@pytest.mark.django_db
def test_another_corpus_does_not_get_these_dialogues() -> None:
    campaign = collection(utterances=2)
    finished(campaign)
    Corpus.objects.create(slug="theirs", name="Theirs")
    with pytest.raises(harvest.SlugTaken):
        harvest.make_corpus(campaign, "theirs", "Ours")
    assert not CorpusVersion.objects.exists()


@pytest.mark.django_db
def test_without_a_finished_dialogue_nothing_is_made() -> None:
    with pytest.raises(harvest.NothingToCollect):
        harvest.make_corpus(collection(), "ours", "Ours")


@pytest.mark.django_db
def test_a_slug_that_cannot_stand_in_an_address_stores_nothing() -> None:
    campaign = collection(utterances=2)
    finished(campaign)
    with pytest.raises(ImportFailed, match="slug"):
        harvest.make_corpus(campaign, "not a slug", "Ours")
    assert not Corpus.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_harvests_at_once_make_one_version() -> None:
    campaign = collection(utterances=2)
    finished(campaign)

    def harvested(_: int) -> str:
        try:
            return str(harvest.make_corpus(campaign, "ours", "Ours").created)
        except harvest.SlugTaken:
            return "taken"

    assert sorted(map(str, together(2, harvested))) == ["False", "True"]
    assert CorpusVersion.objects.count() == 1
