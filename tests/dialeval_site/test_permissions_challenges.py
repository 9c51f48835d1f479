"""Who may do what in challenges: every address × every role.

That no address is missing is tested beside the matrix of the other addresses.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.core.handlers import wsgi
from django.test import Client
from django.urls import reverse

from common.roles import ORGANISER, PARTICIPANT, RATER
from leaderboard.challenges.models import Member, Team
from tests.api_client import Program
from tests.dialeval_site.addresses import METHODS, client_of, in_turn, outcome
from tests.dialeval_site.challenge_matrix import MATRIX, Address
from tests.dialeval_site.challenge_rights import (
    HTMX,
    NO_PLACE,
    ask,
    everything_stored,
    name_of,
    path,
    token_for,
    without,
)
from tests.dialeval_site.small_challenges import (
    CUP,
    DRAFT,
    MEMBER,
    OPEN,
    RIVAL,
    ROLE_NAMES,
    Stage,
)
from tests.dialeval_site.small_corpora import person
from tests.watched_query import WatchedQuery

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("often")]

# --- the matrix of pages --------------------------------------------------------------------------


CASES = [
    pytest.param(address, role, what, id=f"{name_of(address)} {role}")
    for place, address in enumerate(MATRIX)
    for role, what in in_turn(place, zip(ROLE_NAMES, address.roles.split(), strict=True))
]


@pytest.mark.parametrize(("address", "role", "what"), CASES)
def test_each_role_gets_what_the_matrix_says(
    stage: Stage, address: Address, role: str, what: str
) -> None:
    assert outcome(ask(client_of(role), stage, address, role)) == what


@pytest.mark.parametrize("name", sorted({address.name for address in MATRIX}))
def test_other_methods_are_refused_to_everybody(stage: Stage, name: str) -> None:
    own = [address for address in MATRIX if address.name == name]
    taken = {address.method for address in own}
    if name == "openapi-json":
        return  # the document is the same however one asks
    for role in ("anonymous", MEMBER, "superuser"):
        client = client_of(role)
        for method in METHODS - taken:
            status = client.generic(method, path(stage, own[0], role)).status_code
            assert status == 405, (role, method)


@pytest.mark.parametrize("address", [one for one in MATRIX if one.method == "POST"], ids=name_of)
@pytest.mark.parametrize("role", [MEMBER, ORGANISER])
def test_a_form_without_the_page_s_token_is_refused(
    stage: Stage, address: Address, role: str
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person(role))
    assert ask(client, stage, address, role).status_code == 403
    assert ask(client, stage, address, role, Accept="application/json").status_code == 403


@pytest.mark.parametrize("address", [one for one in MATRIX if one.method == "POST"], ids=name_of)
def test_nothing_is_stored_by_those_who_may_not(stage: Stage, address: Address) -> None:
    """Every form, sent by everybody whom the matrix sends away; and by a script of theirs."""
    before = everything_stored()
    for role, what in zip(ROLE_NAMES, address.roles.split(), strict=True):
        if what in ("login", "403", "404"):
            client = client_of(role)
            for headers in ({}, {"Accept": "application/json"}, HTMX):
                ask(client, stage, address, role, **headers)
            assert everything_stored() == before, role


# --- what is another person's ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "address", [one for one in MATRIX if one.of in ("token", "webhook")], ids=name_of
)
@pytest.mark.parametrize("role", [RIVAL, ORGANISER, "superuser"])
def test_another_s_token_and_webhook_do_not_exist(
    stage: Stage, address: Address, role: str
) -> None:
    """Nor for organisers: a token is its owner."""
    before = everything_stored()
    place = path(stage, address, MEMBER)
    missing = re.sub(r"\d+", "999999", place)
    answers = [
        client_of(role).post(one) for one in (place, missing, re.sub(r"\d+", "9" * 30, place))
    ]
    assert [one.status_code for one in answers] == [404, 404, 404]
    assert without(answers[0], place) == without(answers[1], missing)
    assert everything_stored() == before


OF_TEAMS = [one for one in MATRIX if one.of in ("scored", "waiting", "hidden")]


@pytest.mark.parametrize("address", OF_TEAMS, ids=name_of)
@pytest.mark.parametrize("role", [PARTICIPANT, RIVAL, RATER])
def test_another_team_s_submission_answers_like_one_that_nobody_made(
    stage: Stage, address: Address, role: str
) -> None:
    client, place = client_of(role), path(stage, address, role)
    missing = re.sub(r"(/submissions/)[^/]+", r"\1AAAAAAAAAAAAAAAA", place)
    real, none = (client.generic(address.method, one) for one in (place, missing))
    assert real.status_code == none.status_code
    assert real.status_code in (403, 404)
    assert without(real, place) == without(none, missing)


IN_CHALLENGES = [one for one in MATRIX if one.of in ("challenge", "round")]


@pytest.mark.parametrize("address", IN_CHALLENGES, ids=name_of)
@pytest.mark.parametrize("role", ["anonymous", PARTICIPANT, MEMBER, RATER])
def test_a_draft_is_there_for_organisers_only(stage: Stage, address: Address, role: str) -> None:
    """Not for who was a member of a team in it before it became a draft again."""
    client = client_of(role)
    answers = []
    for slug in (DRAFT, NO_PLACE):
        place = path(stage, replace(address, challenge=slug, round=OPEN), role)
        answer = (
            client.post(place, dict(address.data))
            if address.method == "POST"
            else client.get(place)
        )
        answers.append((outcome(answer), without(answer, place).replace(slug, "")))
    assert answers[0] == answers[1]
    assert answers[0][0] in ("404", "403", "login")


@pytest.mark.parametrize("role", ["anonymous", PARTICIPANT, MEMBER])
def test_a_draft_is_on_no_list_and_its_links_lead_nowhere(stage: Stage, role: str) -> None:
    client, draft = client_of(role), Team.objects.get(name="Team early")
    for name in ("challenges", "home"):
        assert "Not yet" not in client.get(reverse(name)).content.decode()
    answer = client.get(reverse("team-join", args=[draft.invitation]))
    assert answer.status_code == 404
    assert "Not yet" not in answer.content.decode()
    assert DRAFT not in Program().get("/challenges").content.decode()


def test_a_user_who_is_no_longer_active_is_nobody(stage: Stage) -> None:
    client, user = client_of(MEMBER), person(MEMBER)
    user.is_active = False
    user.save()
    assert outcome(client.get(reverse("submission", args=[stage.scored[MEMBER]]))) == "login"


def test_who_left_the_team_sees_its_submissions_no_more(stage: Stage) -> None:
    client = client_of(MEMBER)
    place = reverse("submission", args=[stage.scored[MEMBER]])
    assert client.get(place).status_code == 200
    Member.objects.filter(user=person(MEMBER)).delete()
    for part in ("", "progress/", "file/"):
        assert client.get(place + part).status_code == 404
    assert stage.scored[MEMBER] not in client.get(reverse("my-submissions")).content.decode()


def test_an_old_link_of_a_team_lets_nobody_in(stage: Stage) -> None:
    client_of(MEMBER).post(reverse("team-invitation", args=[CUP]))
    stranger = client_of(PARTICIPANT)
    place = reverse("team-join", args=[stage.invitation])
    answers = [
        stranger.get(place),
        stranger.post(place),
        stranger.get(reverse("team-join", args=["A" * 24])),
    ]
    assert [one.status_code for one in answers] == [404, 404, 404]
    assert "Team member" not in answers[0].content.decode()
    assert not Member.objects.filter(user=person(PARTICIPANT)).exists()


def test_who_is_logged_out_comes_back_to_a_page_that_opens(stage: Stage) -> None:
    """Not to a form's own address. What is another's stays so after the log-in."""
    anonymous = client_of("anonymous")
    for address in MATRIX:
        answer = ask(anonymous, stage, address, "anonymous")
        if outcome(answer) == "login":
            back = answer["Location"].partition("next=")[2]
            assert anonymous.get(back).status_code != 405, name_of(address)


# --- mangled addresses ----------------------------------------------------------------------------

MANGLED = ["%00", "a%00b", "%F0%9F%98%80", "x" * 5000, "..%5C..", "%3Cscript%3E", "%ED%A0%80"]


@pytest.mark.parametrize("params", MANGLED)
@pytest.mark.parametrize("role", ["anonymous", MEMBER, ORGANISER])
def test_a_mangled_name_is_one_that_does_not_exist(stage: Stage, params: str, role: str) -> None:
    """On PostgreSQL, too, which refuses a question that holds a NUL."""
    client = client_of(role)
    for place in (
        "/teams/join/{}/",
        "/challenges/{}/",
        f"/challenges/{CUP}/rounds/{{}}/",
        "/corpora/{}/metric-scores/",
    ):
        assert client.get(place.format(params)).status_code == 404, place
        assert client.post(place.format(params)).status_code in (404, 405), place
    for part in ("", "progress/", "file/"):
        assert client.get(f"/submissions/{params}/{part}").status_code in (
            {302, 401} if role == "anonymous" else {404}
        )
    for deed in ("cancel", "retry", "baseline"):
        assert client.post(f"/submissions/{params}/{deed}/").status_code in (302, 403, 404)
    for place in (
        "/submissions/{}",
        "/challenges/{}",
        "/challenges/cup/rounds/{}/leaderboard",
        "/corpora/{}",
    ):
        assert Program().get(place.format(params)).status_code in (401, 404)


@pytest.mark.slow
@pytest.mark.parametrize(
    "params", ["a%00b", "x" * 5000, "-1", "9" * 30, "%ED%A0%80", "%F0%9F%98%80"]
)
@pytest.mark.usefixtures("offered")
def test_a_mangled_query_breaks_no_page(
    stage: Stage, params: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    organiser = client_of(ORGANISER)
    monkeypatch.setattr(wsgi, "QueryDict", WatchedQuery)
    queries = (
        "part",
        "format",
        "level",
        "version",
        "from",
        "round",
        "state",
        "team",
        "chosen",
        "page",
        "sort",
        "download",
        "before",
        "after",
        "action",
        "challenge",
        "next",
        "wait",
    )
    for address in MATRIX:
        if address.method == "GET":
            place = path(stage, address, ORGANISER)
            sent = [[*queries]]
            if "%00" in params:
                # A NUL is what a database chokes on: what the page reads comes alone, what it never
                # looks at all at once. The others go all at once, which is a fifth of the time.
                WatchedQuery.read.clear()
                organiser.get(place)
                read = [query for query in queries if query in WatchedQuery.read]
                sent = [*([query] for query in read), [one for one in queries if one not in read]]
            for query in ("&".join(f"{name}={params}" for name in names) for names in sent):
                status = organiser.get(f"{place}?{query}").status_code
                assert status in (200, 302, 404, 422), (place, query, status)


@pytest.mark.parametrize("invitation", ["a\0b", "\ud800", "x" * 5000, "..\\..", "<script>"])
def test_a_mangled_invitation_joins_no_team(stage: Stage, invitation: str) -> None:
    program = Program(token_for("stranger"))
    assert (
        program.post(f"/challenges/{CUP}/teams/join", {"invitation": invitation}).status_code == 422
    )
