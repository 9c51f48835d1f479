"""Who may do what in challenges: every address × every role, every operation of the API × every caller, and what of
withheld systems and hidden corpora other pages give away.

That no address is missing is tested beside the matrix of the other addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.models import AuditEntry, System
from annotations.roles import ORGANISER, PARTICIPANT, RATER
from dialeval_site import api, tokens
from dialeval_site.models import ApiToken
from leaderboard.challenges.models import Challenge, Member, Round, Submission, Team, Webhook
from leaderboard.models import SubmittedMetric
from tests.api_client import ALL_SCOPES, Program
from tests.conftest import lookers_compute
from tests.dialeval_site.addresses import METHODS, client_of, outcome
from tests.dialeval_site.challenge_matrix import CALLERS, MATRIX, OPERATIONS, Address, Operation
from tests.dialeval_site.small_challenges import (
    CUP,
    DISQUALIFIED,
    DRAFT,
    HIDDEN,
    MEMBER,
    OPEN,
    RIVAL,
    ROLE_NAMES,
    UNSAID,
    Stage,
    make_stage,
    remove_stage,
)
from tests.dialeval_site.small_corpora import PRIVATE, PUBLIC, person

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
NO_PLACE = "nothing-there"
HTMX = {"HX-Request": "true"}


@pytest.fixture(scope="module")
def stage(kitchens: None, django_db_blocker) -> Iterator[Stage]:
    with django_db_blocker.unblock():
        made = make_stage()
    yield made
    with django_db_blocker.unblock():
        remove_stage()


@pytest.fixture(scope="module")
def offered(stage: Stage, django_db_blocker) -> dict[str, list[str]]:
    """The downloads that a page offers to organisers, by its address. Looked for once: then the statistics of both
    corpora are stored, too, which a test would compute anew and take back with its transaction."""
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        lookers_compute(patch)
        organiser = client_of(ORGANISER)
        return {place: files(organiser, place) for place in [*pages_of_all(), *pages_of_the_hidden_corpus()]}


@pytest.fixture(scope="module")
def scripted() -> dict[str, bool]:
    """Whether a script's request for this address is answered otherwise than a browser's, as far as anybody asked."""
    return {}


@pytest.fixture(autouse=True)
def often(settings) -> None:
    """Rates have tests of their own."""
    settings.API_RATE = 10**9
    cache.clear()


# --- the matrix of pages ----------------------------------------------------------------------------------------


def path(stage: Stage, address: Address, role: str) -> str:
    """Where this role finds what the address names."""
    whose = stage.mine(role)
    own = role if role != "anonymous" else MEMBER
    places: list[Any] = {
        "": [],
        "challenge": [address.challenge],
        "round": [address.challenge, address.round],
        "invitation": [stage.invitation],
        "team": [stage.teams[MEMBER]],
        "scored": [stage.scored[whose]],
        "waiting": [stage.waiting[whose]],
        "hidden": [stage.hidden[whose]],
        "corpus": [PUBLIC],
        "hidden corpus": [PRIVATE],
        "metric": [stage.metric],
        "token": [stage.tokens[own]],
        "reset link": ["MQ", "no-token"],
        "webhook": [stage.webhooks[own]],
    }[address.of]
    name = f"api:{address.name}" if address.name == "openapi-json" else address.name
    return reverse(name, args=places)


def ask(client: Client, stage: Stage, address: Address, role: str, **headers: str) -> Any:
    place = path(stage, address, role)
    if address.method == "GET":
        return client.get(place, headers=headers)
    data: dict[str, Any] = dict(address.data)
    if address.file is not None:
        data["file"] = SimpleUploadedFile("a.csv" if b"," in address.file[:10] else "a.jsonl", address.file)
    return client.post(place, data, headers=headers)


def name_of(address: Address) -> str:
    more = address.of if address.of in ("hidden", "hidden corpus") else ""
    more = address.round if address.round != OPEN and address.of == "round" else more
    return f"{address.method} {address.name} {more}".strip()


CASES = [
    pytest.param(address, role, what, id=f"{name_of(address)} {role}")
    for address in MATRIX
    for role, what in zip(ROLE_NAMES, address.roles.split(), strict=True)
]


@pytest.mark.parametrize(("address", "role", "what"), CASES)
def test_each_role_gets_what_the_matrix_says(stage: Stage, address: Address, role: str, what: str) -> None:
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
def test_a_form_without_the_page_s_token_is_refused(stage: Stage, address: Address, role: str) -> None:
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
            for headers in ({}, {"Accept": "application/json"}, HTMX):
                ask(client_of(role), stage, address, role, **headers)
                assert everything_stored() == before, role


def everything_stored() -> list[object]:
    judged = ("public_id", "state", "is_baseline", "disqualified_at", "error", "system")
    return [
        list(Challenge.objects.order_by("pk").values_list("slug", "name", "state", "rules")),
        list(Round.objects.order_by("pk").values_list("slug", "references", "unveil_at", "revision")),
        list(Team.objects.order_by("pk").values_list("name", "invitation", "disqualified_at")),
        list(Member.objects.order_by("pk").values_list("team", "user")),
        list(Submission.objects.order_by("pk").values_list(*judged)),
        list(System.objects.order_by("pk").values_list("name", "withheld")),
        list(SubmittedMetric.objects.order_by("pk").values_list("name", "withdrawn_at")),
        list(ApiToken.objects.order_by("pk").values_list("user", "revoked_at")),
        list(Webhook.objects.order_by("pk").values_list("user", "url")),
        AuditEntry.objects.count(),
    ]


# --- what is another person's -----------------------------------------------------------------------------------


@pytest.mark.parametrize("address", [one for one in MATRIX if one.of in ("token", "webhook")], ids=name_of)
@pytest.mark.parametrize("role", [RIVAL, ORGANISER, "superuser"])
def test_another_s_token_and_webhook_do_not_exist(stage: Stage, address: Address, role: str) -> None:
    """Nor for organisers: a token is its owner."""
    before = everything_stored()
    place = path(stage, address, MEMBER)
    missing = re.sub(r"\d+", "999999", place)
    answers = [client_of(role).post(one) for one in (place, missing, re.sub(r"\d+", "9" * 30, place))]
    assert [one.status_code for one in answers] == [404, 404, 404]
    assert without(answers[0], place) == without(answers[1], missing)
    assert everything_stored() == before


OF_TEAMS = [one for one in MATRIX if one.of in ("scored", "waiting", "hidden")]


@pytest.mark.parametrize("address", OF_TEAMS, ids=name_of)
@pytest.mark.parametrize("role", [PARTICIPANT, RIVAL, RATER])
def test_another_team_s_submission_answers_like_one_that_nobody_made(stage: Stage, address: Address, role: str) -> None:
    client, place = client_of(role), path(stage, address, role)
    missing = re.sub(r"(/submissions/)[^/]+", r"\1AAAAAAAAAAAAAAAA", place)
    real, none = (client.generic(address.method, one) for one in (place, missing))
    assert real.status_code == none.status_code
    assert real.status_code in (403, 404)
    assert without(real, place) == without(none, missing)


def without(answer: Any, place: str) -> str:
    """Page and where it leads, without what the address itself says and without the page's token."""
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    text = body.decode() + answer.headers.get("Location", "")
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)
    for part in sorted(filter(None, place.split("/")), key=len, reverse=True):
        text = text.replace(part, "")
    return text


IN_CHALLENGES = [one for one in MATRIX if one.of in ("challenge", "round")]


@pytest.mark.parametrize("address", IN_CHALLENGES, ids=name_of)
@pytest.mark.parametrize("role", ["anonymous", PARTICIPANT, MEMBER, RATER])
def test_a_draft_is_there_for_organisers_only(stage: Stage, address: Address, role: str) -> None:
    """Not for who was a member of a team in it before it became a draft again."""
    client = client_of(role)
    answers = []
    for slug in (DRAFT, NO_PLACE):
        place = path(stage, replace(address, challenge=slug, round=OPEN), role)
        answer = client.post(place, dict(address.data)) if address.method == "POST" else client.get(place)
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
    answers = [stranger.get(place), stranger.post(place), stranger.get(reverse("team-join", args=["A" * 24]))]
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


# --- mangled addresses ------------------------------------------------------------------------------------------

MANGLED = ["%00", "a%00b", "%F0%9F%98%80", "x" * 5000, "..%5C..", "%3Cscript%3E", "%ED%A0%80"]


@pytest.mark.parametrize("wish", MANGLED)
@pytest.mark.parametrize("role", ["anonymous", MEMBER, ORGANISER])
def test_a_mangled_name_is_one_that_does_not_exist(stage: Stage, wish: str, role: str) -> None:
    """On PostgreSQL, too, which refuses a question that holds a NUL."""
    client = client_of(role)
    for place in (
        "/teams/join/{}/",
        "/challenges/{}/",
        f"/challenges/{CUP}/rounds/{{}}/",
        "/corpora/{}/metric-scores/",
    ):
        assert client.get(place.format(wish)).status_code == 404, place
        assert client.post(place.format(wish)).status_code in (404, 405), place
    for part in ("", "progress/", "file/"):
        assert client.get(f"/submissions/{wish}/{part}").status_code in ({302, 401} if role == "anonymous" else {404})
    for deed in ("cancel", "retry", "baseline"):
        assert client.post(f"/submissions/{wish}/{deed}/").status_code in (302, 403, 404)
    for place in ("/submissions/{}", "/challenges/{}", "/challenges/cup/rounds/{}/leaderboard", "/corpora/{}"):
        assert Program().get(place.format(wish)).status_code in (401, 404)


@pytest.mark.parametrize("wish", ["%00", "a%00b", "x" * 5000, "-1", "9" * 30, "%ED%A0%80", "%F0%9F%98%80"])
@pytest.mark.usefixtures("offered")
def test_a_mangled_query_breaks_no_page(stage: Stage, wish: str) -> None:
    organiser = client_of(ORGANISER)
    queries = ("part", "format", "level", "version", "from", "round", "state", "team", "chosen", "page", "sort",
               "download", "before", "after", "action", "challenge", "next", "wait")  # fmt: skip
    for address in MATRIX:
        if address.method == "GET":
            place = path(stage, address, ORGANISER)
            one_by_one = [f"{query}={wish}" for query in queries]
            # A NUL is what a database chokes on; the others go all at once, which is a fifth of the time.
            for query in one_by_one if "%00" in wish else ["&".join(one_by_one)]:
                status = organiser.get(f"{place}?{query}").status_code
                assert status in (200, 302, 404, 422), (place, query, status)


@pytest.mark.parametrize("invitation", ["a\0b", "\ud800", "x" * 5000, "..\\..", "<script>"])
def test_a_mangled_invitation_joins_no_team(stage: Stage, invitation: str) -> None:
    program = Program(token_for("stranger"))
    assert program.post(f"/challenges/{CUP}/teams/join", {"invitation": invitation}).status_code == 422


# --- the matrix of the API --------------------------------------------------------------------------------------


def token_for(caller: str) -> str:
    """See ``CALLERS``."""
    if caller == "no token":
        return ""
    who = {"stranger": PARTICIPANT, "rival": RIVAL, "disqualified": DISQUALIFIED}.get(caller, MEMBER)
    who = ORGANISER if caller in ("organise", "organiser", "no organiser") else who
    scopes: tuple[str, ...] = ("read", "submit", "export")
    if caller in ("read", "submit", "export", "organise"):
        scopes = (caller,)
    elif caller == "no organiser":
        scopes = ("organise",)
    elif caller == "organiser":
        scopes = ALL_SCOPES
    row, token = tokens.make(person(who), caller, scopes, 30)
    if caller == "expired":
        ApiToken.objects.filter(pk=row.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    elif caller == "revoked":
        tokens.revoke(row)
    elif caller == "deactivated":
        type(row.user).objects.filter(pk=row.user_id).update(is_active=False)
    elif caller == "no organiser":
        row.user.groups.clear()
    return token


def call(program: Program, stage: Stage, operation: Operation, caller: str) -> Any:
    whose = DISQUALIFIED if caller == "disqualified" else MEMBER
    place = operation.path.replace("<scored>", stage.scored[whose]).replace("<waiting>", stage.waiting[whose])
    body = operation.body
    if body and body.get("invitation"):
        body = {"invitation": stage.invitation}
    if operation.file is not None:
        name = "a.csv" if b"," in operation.file[:10] else "a.jsonl"
        return program.upload(place, operation.file, name, **(body or {}))
    if operation.method == "DELETE":
        return program.delete(place)
    return program.get(place) if operation.method == "GET" else program.post(place, body)


API_CASES = [
    pytest.param(operation, caller, int(status), id=f"{operation.method} {operation.path} {caller}")
    for operation in OPERATIONS
    for caller, status in zip(CALLERS, operation.statuses.split(), strict=True)
]


def test_no_operation_is_missing_from_the_matrix() -> None:
    documented = {
        (one["operationId"], method.upper())
        for methods in api.document()["paths"].values()
        for method, one in methods.items()
    }
    assert {(one.name, one.method) for one in OPERATIONS} == documented


@pytest.mark.parametrize(("operation", "caller", "status"), API_CASES)
def test_each_caller_gets_what_the_matrix_says(stage: Stage, operation: Operation, caller: str, status: int) -> None:
    program = Program(token_for(caller))
    before = everything_stored() if status >= 400 else None
    assert call(program, stage, operation, caller).status_code == status
    assert before is None or everything_stored() == before


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: f"{one.method} {one.path}")
def test_a_browser_s_session_is_nobody_at_the_api(stage: Stage, operation: Operation) -> None:
    """Else a page elsewhere could act for who is logged in here."""
    program = Program(client=client_of("superuser"))
    nobody = int(operation.statuses.split()[0])
    assert call(program, stage, operation, "superuser").status_code == nobody


def test_a_token_opens_no_page(stage: Stage) -> None:
    headers = {"Authorization": f"Bearer {token_for('organiser')}"}
    assert outcome(Client().get(reverse("my-submissions"), headers=headers)) == "login"
    assert Client().get(reverse("corpus", args=[PRIVATE]), headers=headers).status_code == 404


# --- what is withheld and hidden ---------------------------------------------------------------------------------

CORPUS_PAGES = (
    "corpus", "dialogues", "dialogue", "metric-leaderboard", "scatter", "system-leaderboard", "system-comparison",
    "agreement", "rater-effects", "fewer-ratings", "metric-comparison", "metric-heat-map", "response-map",
    "corpus-runs", "corpus-runs-progress", "judge-inspector", "judge-answer", "judge-hygiene",
    "metric-scores", "metric-scores-template",
)  # fmt: skip
STRANGERS = ("anonymous", PARTICIPANT, RIVAL, MEMBER, DISQUALIFIED, RATER)
PARTS_OF_THE_API = ("", "/systems", "/dialogues", "/dialogues/0", "/correlations", "/agreement", "/export")
QUERIES = ("", "?version=1", "?aspect=overall", "?level=turn", "?sort=-system", "?metric=word_f1", "?turn=1")


def place_of(name: str, slug: str) -> str:
    return reverse(name, args=[slug, *([0] if name in ("dialogue", "judge-answer") else [])])


def files(client: Client, place: str) -> list[str]:
    return [f"?download={one}" for one in sorted(set(re.findall(r"download=([\w.-]+)", text_of(client.get(place)))))]


@pytest.mark.parametrize("name", CORPUS_PAGES)
@pytest.mark.parametrize("role", STRANGERS)
def test_a_hidden_corpus_answers_like_one_that_does_not_exist(
    stage: Stage, offered: dict[str, list[str]], name: str, role: str
) -> None:
    """For all that ``is_public`` says: neither page, file, fragment nor redirect, nor a header of theirs."""
    client, place = client_of(role), place_of(name, PRIVATE)
    for query in (*QUERIES, *offered[place]):
        for headers in ({}, HTMX):
            real = client.get(place + query, headers=headers)
            none = client.get(place.replace(PRIVATE, NO_PLACE) + query, headers=headers)
            assert real.status_code == none.status_code == 404, query
            assert without(real, PRIVATE) == without(none, NO_PLACE), query
            assert "ETag" not in real.headers


@pytest.mark.parametrize("caller", ["no token", "stranger", "rival", "disqualified", "submit"])
def test_problems_of_the_api_tell_nothing_of_a_hidden_corpus(stage: Stage, caller: str) -> None:
    program = Program(token_for(caller))
    for part in PARTS_OF_THE_API:
        for query in ({}, {"version": 7}, {"aspect": "charm"}, {"level": "none"}, {"systems": UNSAID}):
            real, none = (program.get(f"/corpora/{slug}{part}", **query) for slug in (PRIVATE, NO_PLACE))
            assert real.status_code == none.status_code, part
            assert real.content.replace(PRIVATE.encode(), b"") == none.content.replace(NO_PLACE.encode(), b""), part


def pages_of_all() -> list[str]:
    """Every page that anybody reads, and one's own."""
    places = [place_of(name, PUBLIC) for name in CORPUS_PAGES]
    names = ("home", "metrics", "challenges", "my-submissions", "rate", "account", "runs")
    in_rounds = [
        reverse(name, args=[CUP, slug])
        for name in ("round", "board", "round-dialogues", "round-template", "prompt-new", "round-settings")
        for slug in (OPEN, HIDDEN)
    ]
    of_cup = [reverse(name, args=[CUP]) for name in ("challenge", "challenge-rules", "team")]
    return [*places, *map(reverse, names), *in_rounds, *of_cup]


def pages_of_the_hidden_corpus() -> list[str]:
    return [place_of(name, PRIVATE) for name in CORPUS_PAGES]


def text_of(answer: Any) -> str:
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return f"{dict(answer.headers)} {body.decode('utf-8', 'replace')}"


@pytest.mark.parametrize("role", STRANGERS)
def test_no_page_names_a_withheld_system(
    stage: Stage, offered: dict[str, list[str]], scripted: dict[str, bool], role: str
) -> None:
    """Nor a file, a fragment, a header, nor the complaint about a wrong choice. Where an address answered the first
    who was let in as a script and as a browser alike, the others do not ask it twice."""
    client = client_of(role)
    wrong = ("?aspect=charm", "?systems=nobody", "?system=nobody", "?metric=nothing", "?exclude=nobody", "?version=9")
    for place in pages_of_all():
        for query in (*QUERIES, *wrong, "?part=private", *offered[place]):
            address = place + query
            answer = client.get(address)
            text = text_of(answer)
            assert UNSAID not in text, address
            if scripted.get(address, True):
                fragment = text_of(client.get(address, headers=HTMX))
                assert UNSAID not in fragment, address
                if answer.status_code == 200:
                    scripted[address] = said(fragment) != said(text)


def said(text: str) -> str:
    """Without what is another in every answer: the page's token, the request's number, times."""
    return re.sub(r"\b\w{64}\b|[0-9a-f]{16,}|\d\d:\d\d(:\d\d)?", "", text)


@pytest.mark.parametrize("caller", ["no token", "stranger", "rival", "disqualified", "read"])
def test_no_answer_of_the_api_names_a_withheld_system(stage: Stage, caller: str) -> None:
    program = Program(token_for(caller))
    paths = [one.path for one in OPERATIONS if one.method == "GET"]
    for place in paths:
        whose = stage.scored[MEMBER]
        for query in ({}, {"aspect": "charm"}, {"level": "turn"}, {"systems": "nobody"}, {"part": "private"}):
            answer = program.get(place.replace("<scored>", whose), **query)
            assert UNSAID not in text_of(answer), place


def seen_of_the_open_corpus() -> list[str]:
    """All that strangers read of it, in words."""
    client, program = client_of("anonymous"), Program()
    places = [place_of(name, PUBLIC) for name in CORPUS_PAGES] + [reverse("home"), reverse("metrics")]
    texts = [without(client.get(place + query), "") for place in places for query in ("", *files(client, place))]
    texts += [program.get(f"/corpora/{PUBLIC}{part}").content.decode() for part in PARTS_OF_THE_API[:-1]]
    return texts + [program.get(path).content.decode() for path in ("/corpora", "/metrics")]


def test_withheld_systems_leave_no_trace_in_counts_ranks_or_colours(stage: Stage) -> None:
    """Every page of the open corpus reads the same, to the letter, as if they had never been there."""
    with_them = seen_of_the_open_corpus()
    submissions = Submission.objects.filter(round__slug=OPEN, round__challenge__slug=CUP)
    systems = list(submissions.exclude(system=None).values_list("system", flat=True))
    assert len(systems) == 3
    submissions.delete()
    System.objects.filter(pk__in=systems).delete()
    cache.clear()
    for before, after in zip(with_them, seen_of_the_open_corpus(), strict=True):
        assert before == after


def test_they_stand_there_once_they_are_published(stage: Stage) -> None:
    """So the tests above look for what can be found. Published are systems of a round that is unveiled."""
    Round.objects.filter(slug=OPEN).update(unveil_at=timezone.now())
    client_of(ORGANISER).post(reverse("round-publish", args=[CUP, OPEN]))
    assert UNSAID in Program().get(f"/corpora/{PUBLIC}/systems").content.decode()


@pytest.mark.parametrize("role", STRANGERS)
def test_the_private_board_is_veiled_from_all_but_organisers(stage: Stage, role: str) -> None:
    Round.objects.filter(slug=OPEN).update(unveil_at=timezone.now() + timedelta(days=1), private_metrics=["rouge_1"])
    board, client = reverse("board", args=[CUP, OPEN]), client_of(role)
    organisers = client_of(ORGANISER)
    wishes = ["?part=private", *(f"?part=private&{one[1:]}" for one in files(organisers, f"{board}?part=private"))]
    assert "rouge_1" in text_of(organisers.get(board + wishes[0]))
    assert len(wishes) > 1
    for wish in wishes:
        seen = text_of(client.get(board + wish))
        assert "rouge_1" not in seen, wish
        assert not re.search(r"0\.[2-5]5\d", seen), wish  # what teams scored on word_f1


@pytest.mark.parametrize("role", [PARTICIPANT, RIVAL, MEMBER, RATER])
def test_staff_that_is_no_organiser_reads_nothing_in_the_admin(stage: Stage, role: str) -> None:
    user = person(role)
    user.is_staff = True
    user.save()
    client = client_of(role)
    for table in ("annotations_system", "workers_metricrun", "annotations_corpus"):
        assert client.get(reverse(f"admin:{table}_changelist")).status_code == 403
    assert UNSAID not in client.get(reverse("admin:index")).content.decode()
