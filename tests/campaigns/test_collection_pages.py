"""The pages of a collection, as a browser without JavaScript and as the page's own requests."""

from __future__ import annotations

import json
import re
import uuid
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.campaigns.actions import collection as rooms
from annotations.campaigns.actions.harvest import make_corpus
from annotations.campaigns.models import Campaign, Guidelines, Item, Participation, Room
from annotations.models import Corpus
from common.roles import ORGANISER
from tests.campaigns.forms import asking
from tests.campaigns.rating_browser import JSON, a_rater, address, in_hand
from tests.campaigns.sets import made_campaign, made_raters, made_user
from tests.campaigns.test_collection import HOSTILE, age, finished, pair, write

pytestmark = pytest.mark.django_db


def logged_in(rater: Participation) -> Client:
    client = Client()
    client.force_login(rater.user)
    return client


def collection(**fields: object) -> Campaign:
    campaign = made_campaign("collection", **fields)  # type: ignore[arg-type]
    campaign.guidelines.all().delete()
    return campaign


@pytest.fixture
def organiser() -> Client:
    client = Client()
    client.force_login(made_user("", ORGANISER))
    return client


def say(client: Client, room: Room, text: str, key: str = "key-12345678", script: bool = False):
    address = reverse("room-say", args=[room.campaign.slug, room.public_id])
    headers = {"Accept": "application/json"} if script else {}
    return client.post(address, {"text": text, "key": key}, headers=headers)


def page_of(client: Client, room: Room) -> str:
    return client.get(reverse("room", args=[room.campaign.slug, room.public_id])).content.decode()


def test_two_raters_meet_by_form_and_see_each_other() -> None:
    campaign = collection()
    a, b = map(logged_in, made_raters(campaign, 2))
    meet = reverse("meet", args=[campaign.slug])
    assert "Meet a partner" in a.get(meet).content.decode()
    waiting = a.post(meet, follow=True).content.decode()
    assert "Waiting for a partner" in waiting
    assert "You begin." not in waiting
    assert "Your partner writes." in b.post(meet, follow=True).content.decode()
    assert "You begin." in a.get(meet, follow=True).content.decode()


def test_the_guidelines_come_first() -> None:
    campaign = collection()
    Guidelines.objects.create(campaign=campaign, number=1, text="Be kind.")
    [a] = made_raters(campaign, 1)
    answer = logged_in(a).post(reverse("meet", args=[campaign.slug]))
    assert answer.url == reverse("rating-start", args=[campaign.slug])
    assert not Room.objects.exists()


def test_a_campaign_that_collects_nothing_has_no_meeting_place() -> None:
    campaign = made_campaign("turn")
    [a] = made_raters(campaign, 1)
    assert logged_in(a).get(reverse("meet", args=[campaign.slug])).status_code == 404


@pytest.mark.parametrize(
    ("state", "words"),
    [("paused", "has paused this campaign"), ("closed", "takes no more dialogues")],
)
def test_a_closed_meeting_place_says_why(state: str, words: str) -> None:
    campaign = collection()
    [a] = made_raters(campaign, 1)
    Campaign.objects.update(state=state)
    answer = logged_in(a).post(reverse("meet", args=[campaign.slug])).content.decode()
    assert words in answer
    assert '<button class="primary">' not in answer


def test_each_sees_the_own_persona_only_and_no_name_of_the_other() -> None:
    a, b, room = pair(collection())
    write(a, b, room, ["Hello.", "Good evening."])
    for mine, other in ((a, b), (b, a)):
        page = page_of(logged_in(mine), room)
        own, others = (
            (room.persona_a, room.persona_b) if mine == a else (room.persona_b, room.persona_a)
        )
        assert own[0] in page
        assert others[0] not in page
        assert other.user.username not in page
        assert other.pseudonym not in page


def test_a_line_is_written_without_javascript() -> None:
    a, _, room = pair(collection())
    answer = say(logged_in(a), room, "Hello.")
    assert answer.url == reverse("room", args=[room.campaign.slug, room.public_id])
    assert "Your partner writes." in page_of(logged_in(a), room)


def test_a_line_out_of_turn_keeps_its_text_in_the_form() -> None:
    _, b, room = pair(collection())
    answer = say(logged_in(b), room, "Me first.")
    assert answer.status_code == 409
    page = answer.content.decode()
    assert ">Me first.</textarea>" in page
    assert "Your partner writes now." in page
    assert not room.lines.exists()


@pytest.mark.parametrize(
    ("text", "key", "error"),
    [
        ("", "key-12345678", "Write something first."),
        (" \n ", "key-12345678", "Write something first."),
        ("a\0b", "key-12345678", "holds a NUL character (character 2)"),
        ("x" * 2001, "key-12345678", "has 2,001 characters"),
        ("Hello.", "", "This page is out of date."),
        ("Hello.", "a key with blanks", "This page is out of date."),
        ("Hello.", "k" * 65, "This page is out of date."),
    ],
)
def test_what_cannot_be_stored_is_refused_with_its_reason(text: str, key: str, error: str) -> None:
    a, _, room = pair(collection())
    answer = say(logged_in(a), room, text, key, script=True)
    assert answer.status_code == 422
    assert error in answer.json()["error"]
    assert not room.lines.exists()


def test_the_page_asks_for_json_and_learns_whether_the_dialogue_goes_on() -> None:
    a, b, room = pair(collection(utterances=2))
    assert say(logged_in(a), room, "Hello.", "key-aaaaaaaa", script=True).json() == {
        "stored": True,
        "open": True,
    }
    assert say(logged_in(b), room, "Bye.", "key-bbbbbbbb", script=True).json() == {
        "stored": True,
        "open": False,
    }
    assert say(logged_in(a), room, "Hello.", "key-aaaaaaaa", script=True).json() == {
        "stored": True,
        "open": False,
    }


def test_two_characters_for_a_line_end_are_one() -> None:
    a, _, room = pair(collection())
    say(logged_in(a), room, "first\r\nsecond " + "x" * 1987)  # 5 + 1 + 7 + 1987 = 2,000
    assert room.lines.get().text.startswith("first\nsecond")


def test_hostile_text_is_shown_as_text() -> None:
    a, b, room = pair(collection())
    say(logged_in(a), room, HOSTILE)
    page = page_of(logged_in(b), room)
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_the_poll_is_empty_while_nothing_changes() -> None:
    a, _, room = pair(collection())
    address = reverse("room-lines", args=[room.campaign.slug, room.public_id])
    client = logged_in(a)
    first = client.get(address, headers={"HX-Request": "true"}).content.decode()
    [seen] = re.findall(r'name="seen" value="([^"]+)"', first)
    assert client.get(address, {"seen": seen}).status_code == 204
    rooms.say(a, room.public_id, "Hello.", "key-aaaaaaaa")
    changed = client.get(
        address, {"seen": seen, "state": "talking"}, headers={"HX-Request": "true"}
    )
    assert "Hello." in changed.content.decode()
    assert 'id="room-status" hx-swap-oob="innerHTML"' in changed.content.decode()


def test_the_poll_loads_the_page_anew_when_the_partner_comes() -> None:
    campaign = collection()
    a, b = made_raters(campaign, 2)
    room = rooms.meet(a)
    rooms.meet(b)
    address = reverse("room-lines", args=[campaign.slug, room.public_id])
    answer = logged_in(a).get(address, {"state": "waiting"}, headers={"HX-Request": "true"})
    assert answer.headers["HX-Refresh"] == "true"


ENDS = [
    ({"state": "paused"}, "has paused this campaign"),
    ({"state": "closed"}, "takes no more dialogues"),
    ({"closes_at": timezone.now() - timedelta(minutes=1)}, "takes no more dialogues"),
]


@pytest.mark.parametrize(("change", "words"), ENDS)
def test_who_waits_reads_why_nobody_can_come(change: dict[str, object], words: str) -> None:
    [a] = made_raters(collection(), 1)
    room = rooms.meet(a)
    Campaign.objects.update(**change)
    page = page_of(logged_in(a), room)
    assert words in page
    assert "Whoever comes next" not in page
    assert "Stop waiting" in page


@pytest.mark.parametrize(("change", "words"), ENDS)
def test_the_poll_loads_a_waiting_page_anew_once_when_nobody_can_come(
    change: dict[str, object], words: str
) -> None:
    [a] = made_raters(collection(), 1)
    room, client = rooms.meet(a), logged_in(a)
    opened = page_of(client, room)
    assert "HX-Refresh" not in polled(client, room, opened).headers
    Campaign.objects.update(**change)
    assert polled(client, room, opened).headers["HX-Refresh"] == "true"
    told = polled(client, room, page_of(client, room))
    assert "HX-Refresh" not in told.headers
    assert words in told.content.decode()


def test_who_waits_through_a_pause_is_met_when_it_is_over() -> None:
    campaign = collection()
    a, b = made_raters(campaign, 2)
    room, client = rooms.meet(a), logged_in(a)
    Campaign.objects.update(state="paused")
    paused = page_of(client, room)
    Campaign.objects.update(state="open")
    assert polled(client, room, paused).headers["HX-Refresh"] == "true"
    assert "Whoever comes next" in page_of(client, room)
    assert rooms.meet(b).pk == room.pk


def test_a_dialogue_goes_on_while_its_campaign_is_paused() -> None:
    a, _, room = pair(collection())
    client = logged_in(a)
    opened = page_of(client, room)
    Campaign.objects.update(state="paused")
    assert "HX-Refresh" not in polled(client, room, opened).headers
    assert "You begin." in page_of(client, room)


def polled(client: Client, room: Room, page: str):
    """What the page asks for next, with the values that it sends; it shows no line yet."""
    [sent] = re.findall(r"hx-vals='([^']+)'", page)
    address = reverse("room-lines", args=[room.campaign.slug, room.public_id])
    return client.get(address, json.loads(sent), headers={"HX-Request": "true"})


def test_strangers_and_visitors_find_no_room() -> None:
    campaign = collection()
    a, _, room = pair(campaign)
    [c] = made_raters(campaign, 1)
    for name in ("room", "room-lines"):
        address = reverse(name, args=[campaign.slug, room.public_id])
        assert logged_in(c).get(address).status_code == 404
        assert Client().get(address).status_code == 302
    for name in ("room-say", "room-leave"):
        address = reverse(name, args=[campaign.slug, room.public_id])
        assert (
            logged_in(c).post(address, {"text": "Hello.", "key": "key-12345678"}).status_code == 404
        )
        assert logged_in(a).get(address).status_code == 405
    assert say(Client(), room, "Hello.", script=True).status_code == 401


def test_leaving_leads_back_to_the_meeting_place_and_the_other_is_told() -> None:
    a, b, room = pair(collection())
    answer = logged_in(b).post(
        reverse("room-leave", args=[room.campaign.slug, room.public_id]), follow=True
    )
    assert "You can meet someone else." in answer.content.decode()
    assert "The dialogue ended early" in page_of(logged_in(a), room)


def test_a_finished_dialogue_says_so_and_offers_the_next() -> None:
    room = finished(collection(utterances=2))
    page = page_of(logged_in(room.rater_b), room)
    assert "You have finished 1 dialogue here." in page
    assert "Meet another partner" in page


# --- organisers -----------------------------------------------------------------------------------


def dialogues(campaign: Campaign) -> str:
    return reverse("campaign-dialogues", args=[campaign.slug])


def test_the_organiser_sees_rooms_under_pseudonyms(organiser: Client) -> None:
    campaign = collection(utterances=2)
    room = finished(campaign, ["one two three", "four"])
    page = organiser.get(dialogues(campaign)).content.decode()
    assert "dialogue-1" in page
    assert "rater 1" in page
    assert room.rater_a.user.username not in page
    rows = organiser.get(dialogues(campaign), {"download": "dialogues.json"})
    [row] = json.loads(rows.content)["rows"]
    assert row["cells"]["words"]["value"] == 2.0  # (3 + 1) / 2


def test_the_organiser_reads_a_dialogue_and_leaves_it_out(organiser: Client) -> None:
    campaign = collection(utterances=2)
    room = finished(campaign, ["Hello.", HOSTILE])
    page = organiser.get(dialogues(campaign), {"room": room.public_id}).content.decode()
    assert room.persona_a[0] in page
    assert "<script>alert(1)" not in page
    form = {"action": "leave-out", "room": room.public_id}
    assert "left out" in organiser.post(dialogues(campaign), form, follow=True).content.decode()
    room.refresh_from_db()
    assert room.left_out


def test_the_corpus_is_made_once_and_then_only_grows(organiser: Client) -> None:
    campaign = collection(utterances=2)
    finished(campaign)
    form = {"action": "make", "slug": "ours", "name": "Ours"}
    assert (
        "ours version 1 holds 1 dialogue."
        in organiser.post(dialogues(campaign), form, follow=True).content.decode()
    )
    again = organiser.post(dialogues(campaign), {"action": "make"}, follow=True).content.decode()
    assert "Nothing new: ours version 1 holds these dialogues already." in again
    finished(campaign)
    assert (
        "ours version 2 holds 2 dialogues."
        in organiser.post(dialogues(campaign), {"action": "make"}, follow=True).content.decode()
    )
    assert not Corpus.objects.get().is_public


def test_one_rater_s_objection_leaves_a_dialogue_out(organiser: Client) -> None:
    """Four check two dialogues, as for ComperDial; one of them objects to the first."""
    campaign = collection(utterances=2)
    first, second = finished(campaign, ["Hello.", "You fool."]), finished(campaign)
    version = make_corpus(campaign, "ours", "Ours").version
    check = asking("ethics-check", "dialogue", version=version, k=4)
    asking("comperdial-dialogue", "dialogue", version=version)  # asks no yes/no question
    page = organiser.get(dialogues(campaign)).content.decode()
    assert page.count('value="leave-out-objected"') == 1
    for objects in (False, False, True, False):
        rater, browser = a_rater(check)
        for item in in_hand(rater):
            is_first = Item.objects.get(public_id=item).dialogue.external_id == "dialogue-1"
            given = {"item": item, "key": uuid.uuid4().hex, "guidelines": 1, "form": 1}
            answers = {"q.objection": "false"}
            if objects and is_first:
                answers = {"q.objection": "true", "q.remark": "An insult."}
            answer = browser.post(address("rating-submit", check), {**given, **answers}, **JSON)
            assert answer.json()["stored"]
    form = {"action": "leave-out-objected", "check": check.slug}
    page = organiser.post(dialogues(campaign), form, follow=True).content.decode()
    assert "1 dialogue to which a rater objected is left out" in page
    for room in (first, second):
        room.refresh_from_db()
    assert (first.left_out, second.left_out) == (True, False)
    assert "0 dialogues" in organiser.post(dialogues(campaign), form, follow=True).content.decode()
    assert make_corpus(campaign).version.dialogues.count() == 1


def test_only_a_check_of_these_dialogues_leaves_them_out(organiser: Client) -> None:
    campaign = collection(utterances=2)
    finished(campaign)
    make_corpus(campaign, "ours", "Ours")
    other = asking("ethics-check", "dialogue")
    for slug in (other.slug, "", "\0"):
        form = {"action": "leave-out-objected", "check": slug}
        assert organiser.post(dialogues(campaign), form).status_code == 404


@pytest.mark.parametrize(
    ("slug", "name", "error"),
    [
        ("theirs", "Ours", "There is a corpus with this short name."),
        ("a b", "Ours", "Enter a valid"),
        ("ours", "", "This field is required."),
        ("ours", "a\0b", "Null characters are not allowed."),
    ],
)
def test_a_corpus_that_cannot_be_called_so_is_not_made(
    organiser: Client, slug: str, name: str, error: str
) -> None:
    campaign = collection(utterances=2)
    finished(campaign)
    Corpus.objects.create(slug="theirs", name="Theirs")
    answer = organiser.post(dialogues(campaign), {"action": "make", "slug": slug, "name": name})
    assert answer.status_code == 422
    assert error in answer.content.decode()
    assert Corpus.objects.count() == 1


def test_raters_do_not_see_the_organisers_page() -> None:
    campaign = collection()
    [a] = made_raters(campaign, 1)
    assert logged_in(a).get(dialogues(campaign)).status_code == 403
    assert Client().get(dialogues(campaign)).status_code == 302


@pytest.mark.parametrize("params", ["nothing", "a\0b", "<script>"])
def test_a_dialogue_that_is_not_there_is_not_found(organiser: Client, params: str) -> None:
    campaign = collection()
    assert organiser.get(dialogues(campaign), {"room": params}).status_code == 404
    assert (
        organiser.post(dialogues(campaign), {"action": "leave-out", "room": params}).status_code
        == 404
    )


def test_the_page_without_rooms_tells_the_first_step(organiser: Client) -> None:
    assert "Invite at least two raters." in organiser.get(dialogues(collection())).content.decode()


def test_the_organiser_reads_that_both_have_deserted_a_dialogue(organiser: Client) -> None:
    campaign = collection()
    a, _, room = pair(campaign)
    rooms.say(a, room.public_id, "Hello.", "key-aaaaaaaa")
    age(room, seen_a_at=7 * 3600, seen_b_at=7 * 3600)
    rooms.meet(made_raters(campaign, 1)[0])
    for params in ({}, {"room": room.public_id}):
        assert rooms.LEFT_BY_BOTH in organiser.get(dialogues(campaign), params).content.decode()


def test_a_room_in_which_nobody_met_is_counted_and_not_listed(organiser: Client) -> None:
    campaign = collection()
    [a] = made_raters(campaign, 1)
    rooms.leave(a, rooms.meet(a).public_id)
    page = organiser.get(dialogues(campaign)).content.decode()
    assert "dialogue-1" not in page


def test_the_raters_of_a_collection_are_told_by_what_they_wrote(organiser: Client) -> None:
    """They rate nothing: no column of scores, and nobody waits to be qualified."""
    campaign = collection(utterances=2)
    finished(campaign)
    page = organiser.get(reverse("campaign-raters", args=[campaign.slug]))
    rows = {row.id: row.cells for row in page.context["table"].rows}
    assert [cells["finished"].value for cells in rows.values()] == [1, 1]
    assert {cells["state"].value for cells in rows.values()} == {"active"}
    assert "severity" not in {column.key for column in page.context["table"].columns}


def test_who_has_a_room_open_is_seen_on_the_overview(organiser: Client) -> None:
    campaign = collection()
    a, _b, room = pair(campaign)
    Room.objects.update(seen_a_at=None)
    page_of(logged_in(a), room)
    assert (
        organiser.get(reverse("campaign", args=[campaign.slug])).context["people"].active_now == 1
    )
