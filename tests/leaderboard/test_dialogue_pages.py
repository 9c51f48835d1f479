"""A dialogue that more systems answered than a page shows."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from annotations.models import Rater, Rating, Response, System
from leaderboard.pages.dialogue.view import SYSTEMS_A_PAGE
from tests.campaigns.sets import made_version

SYSTEMS = SYSTEMS_A_PAGE + 3


@pytest.fixture
def client_of_a_page(db: None, client: Client) -> Client:
    version = made_version(
        [f"system-{number:02}" for number in range(SYSTEMS)], dialogues=1, turns=2, slug="many"
    )
    version.corpus.is_public = True
    version.corpus.save()
    rater = Rater.objects.create(version=version, position=0, name="ann")
    for system in System.objects.filter(version=version):
        response = Response.objects.get(system=system, turn__number=0)
        Rating.objects.create(rater=rater, aspect="overall", response=response, score=3)
    return client


def _shown(client: Client, query: str) -> list[int]:
    page = client.get(f"/corpora/many/dialogues/0/?turn=0{query}").content.decode()
    return [int(place) for place in re.findall(r'<li class="response" id="system-(\d+)"', page)]


def test_twenty_five_systems_stand_on_a_page(client_of_a_page: Client) -> None:
    assert _shown(client_of_a_page, "") == list(range(SYSTEMS_A_PAGE))
    assert _shown(client_of_a_page, "&page=2") == [25, 26, 27]


def test_a_link_to_a_system_opens_its_page(client_of_a_page: Client) -> None:
    assert 24 in _shown(client_of_a_page, "&system=24")
    assert 26 in _shown(client_of_a_page, "&system=26")


def test_the_pages_links_go_through_all_systems(client_of_a_page: Client) -> None:
    """A page that was opened by a system's link goes on to the next and back."""
    page = client_of_a_page.get("/corpora/many/dialogues/0/?turn=0&system=26").content.decode()
    assert "26 to 28 of 28 systems" in page
    assert "page=1" in page
    assert 0 in _shown(client_of_a_page, "&system=26&page=1")


def test_what_is_no_page_shows_one(client_of_a_page: Client) -> None:
    assert _shown(client_of_a_page, "&page=nine") == list(range(SYSTEMS_A_PAGE))
    assert _shown(client_of_a_page, "&system=²") == list(range(SYSTEMS_A_PAGE))
    assert _shown(client_of_a_page, "&system=" + "9" * 5000) == list(range(SYSTEMS_A_PAGE))
