"""Who may do what in rating campaigns: every address × every role, and what belongs to another
rater.

That no address is missing is tested beside the matrix of the other addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.campaigns.models import (
    Campaign,
    Conversation,
    Invitation,
    Line,
    Message,
    Participation,
    RatingRevision,
)
from common.database import CompiledQuery
from common.roles import ORGANISER, PARTICIPANT, RATER
from tests.dialeval_site.addresses import METHODS, client_of, in_turn, outcome
from tests.dialeval_site.campaign_matrix import MATRIX, Address
from tests.dialeval_site.corpus_pages import CORPUS_PAGES, place_of
from tests.dialeval_site.small_campaigns import (
    CHATS,
    CLOSED,
    DRAFT,
    EXCLUDED,
    MEETINGS,
    ROLE_NAMES,
    SYSTEM,
    TAKING_PART,
    TURNS,
    Stage,
    make_stage,
    remove_stage,
)
from tests.dialeval_site.small_corpora import PUBLIC, person

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}
NO_PLACE = "nothing-there"


@pytest.fixture(scope="module")
def stage(kitchens: None, django_db_blocker) -> Iterator[Stage]:
    with django_db_blocker.unblock():
        made = make_stage()
    yield made
    with django_db_blocker.unblock():
        remove_stage()


@pytest.fixture(autouse=True)
def no_broker(notified: list[int]) -> None:
    """Workers are not told."""


# --- the matrix -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Visit:
    """Whose room or chat is asked for, and under which campaign instead of the address's own."""

    whose: str = TAKING_PART
    campaign: str = ""


def path(stage: Stage, address: Address, visit: Visit = Visit()) -> str:
    places = {
        "": [],
        "campaign": [],
        "chat": [stage.chats[visit.whose]],
        "room": [stage.rooms[visit.whose]],
        "check": [stage.check],
        "invitation": [stage.invitation],
        "rater": [1],
        "token": [stage.token],
        "system": [stage.chat_system],
    }[address.of]
    slug = [visit.campaign or address.campaign] if address.campaign else []
    return reverse(address.name, args=[*slug, *places])


def ask(client: Client, stage: Stage, address: Address, visit: Visit = Visit(), **headers: str):
    data = {"item": stage.items.get(visit.whose, ""), **dict(address.data)}
    if address.method == "GET":
        return client.get(path(stage, address, visit), headers=headers)
    return client.post(path(stage, address, visit), data, headers=headers)


CASES = [
    pytest.param(address, role, what, id=f"{address.method} {address.name} {role}")
    for place, address in enumerate(MATRIX)
    for role, what in in_turn(place, zip(ROLE_NAMES, address.roles.split(), strict=True))
]


@pytest.mark.parametrize(("address", "role", "what"), CASES)
def test_each_role_gets_what_the_matrix_says(
    stage: Stage, address: Address, role: str, what: str
) -> None:
    whose = EXCLUDED if role == EXCLUDED else TAKING_PART
    assert outcome(ask(client_of(role), stage, address, Visit(whose))) == what


@pytest.mark.parametrize("name", sorted({address.name for address in MATRIX}))
def test_other_methods_are_refused_to_everybody(stage: Stage, name: str) -> None:
    own = [address for address in MATRIX if address.name == name]
    for role in ("anonymous", TAKING_PART, "superuser"):
        client = client_of(role)
        for method in METHODS - {address.method for address in own}:
            assert client.generic(method, path(stage, own[0])).status_code == 405, (role, method)


@pytest.mark.parametrize(
    "address", [one for one in MATRIX if one.method == "POST"], ids=lambda one: one.name
)
@pytest.mark.parametrize("role", [TAKING_PART, ORGANISER])
def test_a_form_without_the_page_s_token_is_refused(
    stage: Stage, address: Address, role: str
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person(role))
    assert ask(client, stage, address).status_code == 403
    assert ask(client, stage, address, **JSON).status_code == 403


def test_nothing_is_stored_by_those_who_may_not(stage: Stage) -> None:
    """Every form, sent by everybody whom the matrix sends away."""
    before = everything_stored()
    for address in MATRIX:
        if address.method != "POST":
            continue
        for role, what in zip(ROLE_NAMES, address.roles.split(), strict=True):
            if what in ("login", "403", "404"):
                client = client_of(role)
                ask(client, stage, address)
                ask(client, stage, address, **JSON)
                assert everything_stored() == before, (address.name, role)


_STORED: list[CompiledQuery[Any]] = [
    CompiledQuery(
        lambda: Campaign.objects.order_by("pk").values_list(
            "slug", "name", "state", "published_aspect"
        )
    ),
    CompiledQuery(
        lambda: Participation.objects.order_by("pk").values_list(
            "user", "state", "guidelines_read", "offered"
        )
    ),
    CompiledQuery(lambda: RatingRevision.objects.order_by("pk").values_list("pk")),
    CompiledQuery(lambda: Line.objects.order_by("pk").values_list("pk")),
    CompiledQuery(lambda: Message.objects.order_by("pk").values_list("pk")),
    CompiledQuery(lambda: Conversation.objects.order_by("pk").values_list("pk")),
    CompiledQuery(lambda: Invitation.objects.order_by("pk").values_list("pk")),
]


def everything_stored() -> list[list[tuple[Any, ...]]]:
    return [one.tuples() for one in _STORED]


# --- pages' own requests --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "statuses"),
    [
        ("rating-submit", "401 404 404 200 409 404 404"),
        ("rating-skip", "401 404 404 200 200 404 404"),
        ("rating-heartbeat", "401 404 404 200 200 404 404"),
        ("rating-leave", "401 404 404 200 200 404 404"),
        ("room-say", "401 404 404 200 409 404 404"),
    ],
)
def test_a_page_s_own_requests_are_told_by_status(stage: Stage, name: str, statuses: str) -> None:
    """A redirect would be followed and look like success."""
    (address,) = (one for one in MATRIX if one.name == name)
    for role, status in zip(ROLE_NAMES, statuses.split(), strict=True):
        whose = EXCLUDED if role == EXCLUDED else TAKING_PART
        assert ask(client_of(role), stage, address, Visit(whose), **JSON).status_code == int(
            status
        ), role


# --- what is another rater's ----------------------------------------------------------------------

OTHERS = [address for address in MATRIX if address.of in ("chat", "room")]


@pytest.mark.parametrize("address", OTHERS, ids=lambda one: one.name)
@pytest.mark.parametrize("role", [TAKING_PART, EXCLUDED, ORGANISER, "superuser"])
def test_another_rater_s_chat_and_room_do_not_exist(
    stage: Stage, address: Address, role: str
) -> None:
    """Nor do they for organisers, who read them on their own pages, under pseudonyms."""
    before = everything_stored()
    for accept in ({}, JSON):
        assert ask(client_of(role), stage, address, Visit("colleague"), **accept).status_code == 404
    assert everything_stored() == before


@pytest.mark.parametrize("address", OTHERS, ids=lambda one: one.name)
def test_one_s_own_chat_and_room_are_in_no_other_campaign(stage: Stage, address: Address) -> None:
    answer = ask(client_of(TAKING_PART), stage, address, Visit(campaign=TURNS))
    assert answer.status_code == 404


def test_another_rater_s_item_does_not_exist(stage: Stage) -> None:
    """Neither page, feedback, rating nor skip tells it from an id that nobody made."""
    client, before = client_of(TAKING_PART), everything_stored()
    theirs, nobodys = stage.items["colleague"], "AAAAAAAAAAAAAAAA"
    work = reverse("rating-work", args=[TURNS])
    for query in ("item", "feedback"):
        assert client.get(f"{work}?{query}={theirs}").status_code == 404
        assert client.get(f"{work}?{query}={nobodys}").status_code == 404
    answers = {}
    for item in (theirs, nobodys, stage.check):
        rating = client.post(
            reverse("rating-submit", args=[TURNS]),
            {"item": item, "key": "one", "score": 3},
            headers=JSON,
        )
        skipping = client.post(
            reverse("rating-skip", args=[TURNS]), {"item": item, "reason": "no"}, headers=JSON
        )
        answers[item] = (rating.status_code, rating.json(), skipping.status_code, skipping.json())
    assert answers[theirs] == answers[nobodys] == answers[stage.check]
    assert answers[theirs][0] == answers[theirs][2] == 409
    assert everything_stored()[2:] == before[2:]


# --- what is there for nobody ---------------------------------------------------------------------

RATERS_ADDRESSES = [address for address in MATRIX if address.who == "raters" and address.campaign]
ORGANISERS_ADDRESSES = [
    address for address in MATRIX if address.who == "organisers" and address.campaign
]


@pytest.mark.parametrize("address", RATERS_ADDRESSES, ids=lambda one: f"{one.method} {one.name}")
@pytest.mark.parametrize("role", [PARTICIPANT, RATER, ORGANISER])
def test_a_stranger_is_not_told_that_a_campaign_is_there(
    stage: Stage, address: Address, role: str
) -> None:
    """The same words as for a name that nobody uses."""
    client = client_of(role)
    real, missing = (
        ask(client, stage, address),
        ask(client, stage, address, Visit(campaign=NO_PLACE)),
    )
    assert real.status_code == missing.status_code == 404
    assert without(real, address.campaign) == without(missing, NO_PLACE)


@pytest.mark.parametrize(
    "address", ORGANISERS_ADDRESSES, ids=lambda one: f"{one.method} {one.name}"
)
@pytest.mark.parametrize("role", ["anonymous", RATER, TAKING_PART])
def test_an_organiser_s_page_tells_others_nothing(
    stage: Stage, address: Address, role: str
) -> None:
    client = client_of(role)
    real, missing = (
        ask(client, stage, address),
        ask(client, stage, address, Visit(campaign=NO_PLACE)),
    )
    assert outcome(real) == outcome(missing) == ("login" if role == "anonymous" else "403")
    assert without(real, address.campaign) == without(missing, NO_PLACE)


@pytest.mark.parametrize("address", RATERS_ADDRESSES, ids=lambda one: f"{one.method} {one.name}")
@pytest.mark.parametrize("role", [RATER, TAKING_PART])
def test_a_draft_is_there_for_no_rater(stage: Stage, address: Address, role: str) -> None:
    """Not for members of its group, and not for whoever would be among its raters already."""
    client = client_of(role)
    draft, missing = (
        ask(client, stage, address, Visit(campaign=slug)) for slug in (DRAFT, NO_PLACE)
    )
    assert draft.status_code == missing.status_code == 404
    assert without(draft, DRAFT) == without(missing, NO_PLACE)


def without(answer, slug: str) -> str:
    """Page and address that it leads to, with neither the campaign's name nor the page's token."""
    text = answer.content.decode() + answer.headers.get("Location", "")
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text).replace(slug, "")


@pytest.mark.parametrize("role", ["anonymous", PARTICIPANT, RATER])
def test_no_page_mentions_a_campaign_to_strangers(stage: Stage, role: str) -> None:
    client = client_of(role)
    names = list(Campaign.objects.values_list("name", "slug"))
    for address in ("home", "metrics", "rate"):
        text = client.get(reverse(address)).content.decode()
        for name, slug in names:
            assert name not in text, address
            assert f"/{slug}/" not in text, address


# --- downloads, and the corpus that is rated ------------------------------------------------------

WITH_TABLES = (
    "campaigns",
    "campaign-raters",
    "campaign-ratings",
    "campaign-agreement",
    "campaign-dialogues",
)


@pytest.mark.parametrize("name", WITH_TABLES)
def test_downloads_are_for_those_who_may_see_the_page(stage: Stage, name: str) -> None:
    (address,) = (one for one in MATRIX if one.name == name and one.method == "GET")
    place = path(stage, address)
    tables = re.findall(r"download=([\w.-]+)", client_of(ORGANISER).get(place).content.decode())
    assert tables, "the page offers no downloads, so nothing was tested"
    for role, what in (
        ("anonymous", "login"),
        (RATER, "403"),
        (TAKING_PART, "403"),
        (EXCLUDED, "403"),
    ):
        client = client_of(role)
        for table in tables:
            assert outcome(client.get(f"{place}?download={table}")) == what, (role, table)


@pytest.mark.parametrize("form", ["csv", "revisions-csv", "jsonl", "mt-metrics-eval"])
def test_ratings_are_exported_to_organisers_only(stage: Stage, form: str) -> None:
    place = f"{reverse('campaign-export', args=[TURNS])}?format={form}&names=1&all=1"
    got = {role: outcome(client_of(role).get(place)) for role in ROLE_NAMES}
    assert got == dict(
        zip(ROLE_NAMES, ["login", "403", "403", "403", "403", "200", "200"], strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", CORPUS_PAGES)
@pytest.mark.parametrize("role", [TAKING_PART, EXCLUDED])
def test_who_rates_a_corpus_sees_nothing_of_it(stage: Stage, name: str, role: str) -> None:
    """Its pages name the systems: neither page nor file nor fragment, in the words of a corpus that
    is not there."""
    client = client_of(role)
    place = place_of(name, PUBLIC)
    page = client_of("anonymous").get(place)
    text = "" if page.streaming else page.content.decode()
    files = re.findall(r"download=([\w.-]+)", text)
    missing = client.get(place.replace(PUBLIC, NO_PLACE))
    for query in ("", "?version=1", *(f"?download={file}" for file in files)):
        answer = client.get(place + query)
        assert answer.status_code == missing.status_code == 404, query
        assert client.get(place + query, headers={"HX-Request": "true"}).status_code == 404, query
        if not query:
            assert without(answer, PUBLIC) == without(missing, NO_PLACE)


def test_lists_and_their_files_leave_out_the_corpus_one_rates(stage: Stage) -> None:
    client = client_of(TAKING_PART)
    for place in ("home", "metrics"):
        page = client.get(reverse(place)).content.decode()
        for text in (
            page,
            *(
                client.get(f"{reverse(place)}?download={file}").content.decode()
                for file in files(page)
            ),
        ):
            assert PUBLIC not in text
            assert "cook" not in text.casefold()  # its system, and its name


def files(page: str) -> set[str]:
    return set(re.findall(r"download=([\w.-]+)", page))


def test_an_organiser_who_takes_part_may_do_both(stage: Stage) -> None:
    organiser = person(ORGANISER)
    campaign = Campaign.objects.get(slug=TURNS)
    Participation.objects.create(
        campaign=campaign, user=organiser, position=99, guidelines_read=campaign.guidelines.get()
    )
    client = client_of(ORGANISER)
    assert client.get(reverse("rating-work", args=[TURNS])).status_code == 200
    assert client.get(reverse("campaign-raters", args=[TURNS])).status_code == 200


def test_a_rater_whose_account_is_switched_off_is_nobody(stage: Stage) -> None:
    client = client_of(TAKING_PART)
    rater = person(TAKING_PART)
    rater.is_active = False
    rater.save()
    assert outcome(client.get(reverse("rating-work", args=[TURNS]))) == "login"


def test_who_is_logged_out_comes_back_to_a_page_that_opens(stage: Stage) -> None:
    """Not to a form's own address."""
    anonymous = client_of("anonymous")
    for address in MATRIX:
        answer = ask(anonymous, stage, address)
        if outcome(answer) == "login":
            back = answer["Location"].partition("next=")[2]
            assert anonymous.get(back).status_code != 405, address.name


# --- invitations ----------------------------------------------------------------------------------

DEAD_LINKS = {
    "bad": ({"token": "another-token-than-this"}, 404),
    "revoked": ({"revoked_at": timezone.now()}, 410),
    "expired": ({"expires_at": timezone.now() - timedelta(seconds=1)}, 410),
    "used up": ({"most_uses": 1, "uses": 1}, 410),
}
ACCOUNT = {
    "username": "somebody-new",
    "password": "a long pass phrase",
    "again": "a long pass phrase",
}


@pytest.mark.parametrize(("change", "status"), DEAD_LINKS.values(), ids=DEAD_LINKS)
@pytest.mark.parametrize("role", ["anonymous", PARTICIPANT, RATER, ORGANISER])
def test_a_link_that_does_not_work_tells_nothing_and_makes_nothing(
    stage: Stage, change: dict[str, object], status: int, role: str
) -> None:
    Invitation.objects.filter(token=stage.token).update(**change)
    client, before = client_of(role), everything_stored()
    place = reverse("campaign-join", args=[stage.token])
    campaign = Campaign.objects.get(slug=TURNS)
    for answer in (client.get(place), client.post(place), client.post(place, ACCOUNT)):
        assert answer.status_code == status
        text = answer.content.decode().replace(place, "")
        assert campaign.name not in text
        assert TURNS not in text
        assert "for the cooks" not in text
    assert everything_stored() == before
    assert ("sessionid" in client.cookies) is (role != "anonymous")
    assert not type(person(RATER)).objects.filter(username=ACCOUNT["username"]).exists()


def test_a_link_lets_in_whoever_holds_it(stage: Stage) -> None:
    """The other side of the test above: the same form, with a link that works."""
    client = client_of("anonymous")
    answer = client.post(reverse("campaign-join", args=[stage.token]), ACCOUNT)
    assert answer["Location"] == reverse("rating-start", args=[TURNS])
    assert client.get(answer["Location"]).status_code == 200


@pytest.mark.parametrize(
    "token", ["%00", "a%00b", "%F0%9F%98%80", "x" * 5000, "..%5C..", "%3Cscript%3E"]
)
def test_a_mangled_link_is_a_link_that_does_not_work(stage: Stage, token: str) -> None:
    for method in ("GET", "POST"):
        assert client_of("anonymous").generic(method, f"/join/{token}/").status_code == 404


@pytest.mark.parametrize("wish", ["%00", "a%00", "x" * 5000, "%F0%9F%98%80", "-1", "1"])
def test_a_mangled_item_is_one_that_does_not_exist(stage: Stage, wish: str) -> None:
    client = client_of(TAKING_PART)
    for query in ("item", "feedback"):
        assert (
            client.get(f"{reverse('rating-work', args=[TURNS])}?{query}={wish}").status_code == 404
        )
    form, encoded = f"item={wish}&key=k&score=3&reason=r", "application/x-www-form-urlencoded"
    for name, headers, allowed in (
        ("rating-submit", {}, {302, 200}),
        ("rating-submit", JSON, {409, 422}),
        ("rating-skip", {}, {302}),
        ("rating-skip", JSON, {409, 422}),
    ):
        answer = client.post(
            reverse(name, args=[TURNS]), form, content_type=encoded, headers=headers
        )
        assert answer.status_code in allowed, (name, headers)


@pytest.mark.parametrize("wish", ["%00", "x" * 5000, "%F0%9F%98%80"])
def test_a_mangled_check_or_room_is_one_that_does_not_exist(stage: Stage, wish: str) -> None:
    organiser = client_of(ORGANISER)
    assert organiser.post(f"/campaigns/{TURNS}/checks/{wish}/delete/").status_code == 404
    assert (
        organiser.get(f"{reverse('campaign-dialogues', args=[MEETINGS])}?room={wish}").status_code
        == 404
    )
    assert (
        organiser.get(f"{reverse('campaign-raters', args=[TURNS])}?rater={wish}").status_code == 404
    )


def test_numbers_beyond_the_database_s_are_of_nothing(stage: Stage) -> None:
    organiser, huge = client_of(ORGANISER), "9" * 30
    assert organiser.get(f"/chat-systems/{huge}/").status_code == 404
    assert organiser.post(f"/chat-systems/{huge}/try/", {"question": "Hi."}).status_code == 404
    assert organiser.post(f"/campaigns/{TURNS}/invitations/{huge}/revoke/").status_code == 404
    assert (
        organiser.post(f"/campaigns/{TURNS}/raters/{huge}/exclude/", {"reason": "r"}).status_code
        == 404
    )


def test_the_stage_is_what_the_matrix_speaks_of(stage: Stage) -> None:
    """Else a 404 would be one for want of anything there."""
    states = dict(Campaign.objects.values_list("slug", "state"))
    assert states == {
        TURNS: "open",
        CHATS: "open",
        MEETINGS: "open",
        DRAFT: "draft",
        CLOSED: "closed",
    }
    assert (
        Conversation.objects.get(
            public_id=stage.chats[TAKING_PART]
        ).assignment.item.chat_system.name
        == SYSTEM
    )
