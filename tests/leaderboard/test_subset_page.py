"""The page on which organisers cut an evaluation set. Of ``FOUR_RESPONSES`` two have a length of 3
or more: d1 of echo (3) and d0 of dull (4), to which people gave 2 and 4."""

from __future__ import annotations

import html

import pytest
from django.http import HttpResponse
from django.test import Client

from annotations.models import AuditEntry, Corpus
from tests.campaigns.sets import made_user
from tests.challenges.sets import open_round
from tests.leaderboard.conftest import FOUR_RESPONSES, Rated

pytestmark = pytest.mark.django_db

FORM = {
    "by": "length",
    "aspect": "overall",
    "at_least": "3",
    "seed": "0",
    "name": "The long ones",
    "slug": "long",
    "seen_by": "organisers",
}


@pytest.fixture
def organiser(client: Client, rated: Rated) -> Client:
    rated(FOUR_RESPONSES)
    client.force_login(made_user("olga", "organiser"))
    return client


def sent(client: Client, **changed: str) -> HttpResponse:
    return client.post("/corpora/small/subset/", {**FORM, **changed})


def text_of(answer: HttpResponse) -> str:
    return " ".join(html.unescape(answer.content.decode()).split())


def test_a_set_becomes_a_corpus_with_its_ratings(organiser: Client) -> None:
    assert sent(organiser)["Location"] == "/corpora/long/"
    corpus = Corpus.objects.get(slug="long")
    version = corpus.versions.get()
    assert (corpus.name, corpus.is_public) == ("The long ones", False)
    said = version.systems.values_list("name", "responses__turn__dialogue__external_id")
    assert set(said) == {("echo", "d1"), ("dull", "d0")}
    scores = version.raters.values_list("ratings__score", flat=True)
    assert sorted(scores) == [2, 4]
    source = Corpus.objects.get(slug="small").versions.get().label
    assert version.description.endswith(f"2 responses of small {source} by length: at least 3.")
    assert AuditEntry.objects.filter(action="corpus.imported", actor="olga").exists()


def test_nobody_else_cuts_sets(organiser: Client) -> None:
    others = Client()
    assert sent(others)["Location"].startswith("/accounts/login/")
    others.force_login(made_user("paul"))
    assert sent(others).status_code == 403
    assert Corpus.objects.count() == 1


def test_the_same_set_twice_changes_nothing(organiser: Client) -> None:
    sent(organiser)
    assert sent(organiser)["Location"] == "/corpora/long/"
    assert Corpus.objects.get(slug="long").versions.count() == 1


def test_it_is_counted_before_it_is_stored(organiser: Client) -> None:
    answer = sent(organiser, preview="1")
    assert "2<small>of 4</small>" in text_of(answer)
    assert "3.500<small>length</small>" in text_of(answer)
    assert not Corpus.objects.filter(slug="long").exists()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"at_least": ""}, "Say which responses"),
        ({"at_least": "nan"}, "Enter a number"),
        ({"at_least": "9"}, "no response fulfils the conditions"),
        ({"draw": "3"}, "2 responses fulfil the conditions; 3 are asked for"),
        ({"balanced": "on"}, "for responses drawn at random"),
        ({"by": "fbd"}, "Select a valid choice"),
        ({"slug": "../x"}, "Enter a valid"),
        ({"slug": "new"}, "the page that adds corpora has this address"),
        ({"slug": "small"}, "small is here already"),
        ({"name": "a\x00b"}, "Null characters"),
        ({"seed": "-1"}, "greater than or equal to 0"),
    ],
)
def test_what_makes_no_set_is_refused_and_stores_nothing(
    organiser: Client, changed: dict[str, str], message: str
) -> None:
    answer = sent(organiser, **changed)
    assert answer.status_code == 422
    assert message in text_of(answer)
    assert Corpus.objects.count() == 1


def test_references_that_a_round_hides_are_not_shown_by_a_set(organiser: Client) -> None:
    version = Corpus.objects.get(slug="small").versions.get()
    open_round(version=version, references="hidden")
    answer = sent(organiser, seen_by="everybody")
    assert "A round hides the references" in text_of(answer)
    assert sent(organiser).status_code == 302


def test_a_corpus_too_large_for_a_request_is_cut_by_the_command(
    organiser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.pages.subset.view.MOST_RESPONSES", 3)
    assert "manage.py subset small" in text_of(sent(organiser))


def test_the_corpus_page_leads_to_it(organiser: Client) -> None:
    page = organiser.get("/corpora/small/").content.decode()
    assert 'href="/corpora/small/subset/?version=1"' in page
    assert "subset/" not in Client().get("/corpora/small/").content.decode()
