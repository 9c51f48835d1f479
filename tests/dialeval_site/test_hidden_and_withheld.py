"""What of withheld systems and hidden corpora pages, files and the API give away: nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.core.handlers import wsgi
from django.urls import reverse
from django.utils import timezone

from annotations.models import System
from common.roles import ORGANISER, PARTICIPANT, RATER
from leaderboard.challenges.models import Round, Submission
from tests.api_client import Program
from tests.ci import IS_LONG
from tests.dialeval_site.addresses import client_of, in_turn
from tests.dialeval_site.challenge_matrix import OPERATIONS
from tests.dialeval_site.challenge_pages import (
    QUERIES,
    files,
    pages_of_all,
    text_of,
)
from tests.dialeval_site.challenge_rights import (
    HTMX,
    NO_PLACE,
    token_for,
    without,
)
from tests.dialeval_site.corpus_pages import CORPUS_PAGES, place_of
from tests.dialeval_site.small_challenges import (
    CUP,
    DISQUALIFIED,
    MEMBER,
    OPEN,
    RIVAL,
    UNSAID,
    Stage,
)
from tests.dialeval_site.small_corpora import PRIVATE, PUBLIC, person
from tests.watched_query import ALL, WatchedQuery, is_read

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("often")]

STRANGERS = ("anonymous", PARTICIPANT, RIVAL, MEMBER, DISQUALIFIED, RATER)
PARTS_OF_THE_API = (
    "",
    "/systems",
    "/dialogues",
    "/dialogues/0",
    "/correlations",
    "/agreement",
    "/export",
)


@pytest.fixture(scope="module")
def scripted() -> dict[str, bool]:
    """Whether a script's request for this page is answered otherwise than a browser's, as far as
    anybody asked; where nobody waits, for each of its queries."""
    return {}


def asked_by() -> Iterator[tuple[str, str]]:
    """(page, role): the member, who is let in furthest, asks for each, the others in turn."""
    others = [(role, "404") for role in STRANGERS if role != MEMBER]
    for place, name in enumerate(CORPUS_PAGES):
        yield name, MEMBER
        yield from ((name, role) for role, _ in in_turn(place, others))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "role"), list(asked_by()))
def test_a_hidden_corpus_answers_like_one_that_does_not_exist(
    stage: Stage, offered: dict[str, list[str]], name: str, role: str
) -> None:
    """For all that ``is_public`` says: neither page, file, fragment nor redirect, nor a header of
    theirs."""
    client, place = client_of(role), place_of(name, PRIVATE)
    more = [*QUERIES[1:], *offered[place]] if asks_for_everything(role) else offered[place][:1]
    for query, headers in (("", {}), ("", HTMX), *((one, {}) for one in more)):
        real = client.get(place + query, headers=headers)
        none = client.get(place.replace(PRIVATE, NO_PLACE) + query, headers=headers)
        assert real.status_code == none.status_code == 404, query
        assert without(real, PRIVATE) == without(none, NO_PLACE), query
        assert "ETag" not in real.headers


def asks_for_everything(role: str) -> bool:
    """Who sees what is decided once for an address, whatever its query: the role that is let in
    furthest asks every query and file of it, the others the page and one file; where nobody waits,
    all ask all."""
    return IS_LONG or role == MEMBER


@pytest.mark.parametrize("caller", ["no token", "stranger", "rival", "disqualified", "submit"])
def test_problems_of_the_api_tell_nothing_of_a_hidden_corpus(stage: Stage, caller: str) -> None:
    program = Program(token_for(caller))
    for part in PARTS_OF_THE_API:
        for query in (
            {},
            {"version": 7},
            {"aspect": "charm"},
            {"level": "none"},
            {"systems": UNSAID},
        ):
            real, none = (
                program.get(f"/corpora/{slug}{part}", **query) for slug in (PRIVATE, NO_PLACE)
            )
            assert real.status_code == none.status_code, part
            assert real.content.replace(PRIVATE.encode(), b"") == none.content.replace(
                NO_PLACE.encode(), b""
            ), part


@pytest.mark.slow
@pytest.mark.parametrize("role", STRANGERS)
def test_no_page_names_a_withheld_system(
    stage: Stage,
    offered: dict[str, list[str]],
    scripted: dict[str, bool],
    role: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nor a file, a fragment, a header, nor the complaint about a wrong choice. Where a page
    answered the first who was let in as a script and as a browser alike, nobody asks it twice; a
    query that it never looks at nobody asks."""
    monkeypatch.setattr(wsgi, "QueryDict", WatchedQuery)
    client = client_of(role)
    wrong = (
        "?aspect=charm",
        "?systems=nobody",
        "?system=nobody",
        "?metric=nothing",
        "?exclude=nobody",
        "?version=9",
    )
    for place in pages_of_all():
        queries = [*QUERIES, *wrong, "?part=private", *offered[place]]
        read = {ALL}
        for query in queries if asks_for_everything(role) else ("", wrong[0], "?part=private"):
            if query and not (IS_LONG or "part=" in query or is_read(query, read)):
                continue
            WatchedQuery.read.clear()
            address = place + query
            answer = client.get(address)
            text = text_of(answer)
            assert UNSAID not in text, address
            read = read if query else {*WatchedQuery.read}
            page = address if IS_LONG else place
            if scripted.get(page, True) or "part=" in query:
                fragment = text_of(client.get(address, headers=HTMX))
                assert UNSAID not in fragment, address
                if answer.status_code == 200:
                    scripted[page] = scripted.get(page, False) or said(fragment) != said(text)


def said(text: str) -> str:
    """Without what is another in every answer: the page's token, the request's number, times."""
    return re.sub(r"\b\w{64}\b|[0-9a-f]{16,}|\d\d:\d\d(:\d\d)?", "", text)


@pytest.mark.slow
@pytest.mark.parametrize("caller", ["no token", "stranger", "rival", "disqualified", "read"])
def test_no_answer_of_the_api_names_a_withheld_system(stage: Stage, caller: str) -> None:
    program = Program(token_for(caller))
    paths = [one.path for one in OPERATIONS if one.method == "GET"]
    for place in paths:
        whose = stage.scored[MEMBER]
        for query in (
            {},
            {"aspect": "charm"},
            {"level": "turn"},
            {"systems": "nobody"},
            {"part": "private"},
        ):
            answer = program.get(place.replace("<scored>", whose), **query)
            assert UNSAID not in text_of(answer), place


def seen_of_the_open_corpus() -> list[str]:
    """All that strangers read of it, in words."""
    client, program = client_of("anonymous"), Program()
    places = [place_of(name, PUBLIC) for name in CORPUS_PAGES] + [
        reverse("home"),
        reverse("metrics"),
    ]
    texts = [
        without(client.get(place + query), "")
        for place in places
        for query in ("", *files(client, place))
    ]
    texts += [
        program.get(f"/corpora/{PUBLIC}{part}").content.decode() for part in PARTS_OF_THE_API[:-1]
    ]
    return texts + [program.get(path).content.decode() for path in ("/corpora", "/metrics")]


@pytest.mark.slow
def test_withheld_systems_leave_no_trace_in_counts_ranks_or_colours(stage: Stage) -> None:
    """Every page of the open corpus reads the same, to the letter, as if they had never been
    there."""
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
    """So the tests above look for what can be found. Published are systems of a round that is
    released."""
    Round.objects.filter(slug=OPEN).update(release_at=timezone.now())
    client_of(ORGANISER).post(reverse("round-publish", args=[CUP, OPEN]))
    assert UNSAID in Program().get(f"/corpora/{PUBLIC}/systems").content.decode()


@pytest.mark.parametrize("role", STRANGERS)
def test_the_private_board_is_hidden_from_all_but_organisers(stage: Stage, role: str) -> None:
    Round.objects.filter(slug=OPEN).update(
        release_at=timezone.now() + timedelta(days=1), private_metrics=["rouge_1"]
    )
    board, client = reverse("board", args=[CUP, OPEN]), client_of(role)
    organisers = client_of(ORGANISER)
    wishes = [
        "?part=private",
        *(f"?part=private&{one[1:]}" for one in files(organisers, f"{board}?part=private")),
    ]
    assert "rouge_1" in text_of(organisers.get(board + wishes[0]))
    assert len(wishes) > 1
    for params in wishes:
        seen = text_of(client.get(board + params))
        assert "rouge_1" not in seen, params
        assert not re.search(r"0\.[2-5]5\d", seen), params  # what teams scored on word_f1


@pytest.mark.parametrize("role", [PARTICIPANT, RIVAL, MEMBER, RATER])
def test_staff_that_is_no_organiser_reads_nothing_in_the_admin(stage: Stage, role: str) -> None:
    user = person(role)
    user.is_staff = True
    user.save()
    client = client_of(role)
    for table in ("annotations_system", "workers_metricrun", "annotations_corpus"):
        assert client.get(reverse(f"admin:{table}_changelist")).status_code == 403
    assert UNSAID not in client.get(reverse("admin:index")).content.decode()
