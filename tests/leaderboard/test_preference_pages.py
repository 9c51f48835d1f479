"""The pages of preferences, and what the API answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from annotations.corpora.actions import data_changed
from annotations.models import Preference
from common.estimates import Estimate
from leaderboard.pages.preferences.text import systems_headline
from leaderboard.queries.preference_board import preference_leaderboard
from leaderboard.results.computing import compute_waiting
from tests.annotations.stored import stored, two_systems
from tests.leaderboard.preferred import preferred_version

pytestmark = pytest.mark.django_db

SYSTEMS = "/corpora/small/systems/preferences/"
METRICS = "/corpora/small/metrics/preferences/"
API = "/api/v1/corpora/small/preferences"


@pytest.fixture
def client(client: Client, tmp_path: Path) -> Client:
    preferred_version(tmp_path)
    call_command("score", corpus="small", metrics="response_length,word_f1", inline=True)
    return client


def text(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def test_the_finding_names_who_is_preferred_most(client: Client) -> None:
    page = text(client, SYSTEMS)
    assert "full is preferred most" in page
    assert "72 votes on 12 conversations by 2 raters" in page
    assert "Won by slot A" in page
    assert 'aria-labelledby="win-matrix-heading"' in page


def test_style_is_held_constant_on_demand(client: Client) -> None:
    assert "are held constant." not in text(client, SYSTEMS).partition("board-tools")[0]
    page = text(client, f"{SYSTEMS}?style_control=yes")
    assert "Length, Markdown and emoji are held constant." in page.partition("board-tools")[0]
    assert client.get(f"{SYSTEMS}?style_control=loud").status_code == 404


def test_files_hold_the_board_and_every_pair(client: Client) -> None:
    board = json.loads(text(client, f"{SYSTEMS}?download=preferences.json"))
    assert len(board["rows"]) == 3
    pairs = text(client, f"{SYSTEMS}?download=win-rates.csv")
    assert len(pairs.strip().splitlines()) >= 4
    assert client.get(f"{METRICS}?download=metric-preferences.csv").status_code == 200


def test_metrics_stand_beside_people_and_length(client: Client) -> None:
    page = text(client, METRICS)
    assert "predicts preferences best" in page or "not significantly different" in page
    assert "one person with another" in page
    assert "One person predicts another at" in page


def test_an_unknown_question_is_404(client: Client) -> None:
    assert client.get(f"{SYSTEMS}?aspect=humour").status_code == 404
    assert client.get(f"{METRICS}?level=dialogue").status_code == 404
    assert client.get(f"{SYSTEMS}?aspect=overall&level=turn").status_code == 200


@pytest.mark.by_workers
def test_a_question_published_since_is_waited_for(client: Client) -> None:
    """The stored answer names the questions that there were when it was computed."""
    assert client.get(API).status_code == 202
    assert compute_waiting()
    vote = Preference.objects.select_related("rater").first()
    Preference.objects.create(
        rater=vote.rater,
        aspect="humour",
        preferred="a",
        response_a=vote.response_a,
        response_b=vote.response_b,
    )
    data_changed([vote.rater.version_id])
    assert client.get(f"{API}?aspect=humour").status_code == 202
    assert client.get(f"{SYSTEMS}?aspect=humour").status_code == 200
    assert client.get(f"{API}?aspect=grammar").status_code == 404


@pytest.mark.parametrize("board", ["systems", "metrics"])
def test_boards_of_ratings_lead_to_preferences(client: Client, board: str) -> None:
    page = text(client, f"/corpora/small/{board}/")
    assert f'href="/corpora/small/{board}/preferences/"' in page


def test_a_corpus_without_preferences_is_led_nowhere(client: Client, tmp_path: Path) -> None:
    stored(two_systems(), tmp_path, "rated")
    assert "preferences/" not in text(client, "/corpora/rated/systems/")
    assert "Nobody compared two responses" in text(client, "/corpora/rated/systems/preferences/")
    assert client.get("/api/v1/corpora/rated/preferences").status_code == 404


def test_an_undefeated_system_has_no_rating_and_the_page_says_why(
    client: Client, tmp_path: Path
) -> None:
    preferred_version(tmp_path, slug="clear", undefeated="full")
    page = text(client, "/corpora/clear/systems/preferences/")
    assert "No ratings: full won every battle against the others" in page


def test_the_api_has_what_the_pages_have(client: Client) -> None:
    found = client.get(API).json()
    assert (found["votes"], found["aspect"], found["level"]) == (72, "overall", "turn")
    assert [one["system"] for one in found["systems"]] == ["brief", "fair", "full"]
    assert found["systems"][0]["strength"]["ci"]
    assert client.get(f"{API}?aspect=humour").status_code == 404
    rows = client.get(f"{API}/metrics").json()["rows"]
    assert {row["metric"] for row in rows} == {"response_length", "word_f1"}


def test_equal_ratings_are_not_called_the_most(tmp_path: Path) -> None:
    document = preference_leaderboard(preferred_version(tmp_path))
    tied = Estimate(0.0, (-1.0, 1.0))
    first, second, third = (replace(one, strength=tied, groups=(0,)) for one in document.systems)
    last = replace(third, strength=Estimate(-0.5, (-1.0, 0.0)))
    of_two = systems_headline(replace(document, systems=(first, second, last)), controlled=False)
    of_all = systems_headline(replace(document, systems=(first, second, third)), controlled=False)
    names = [one.system for one in (first, second, third)]
    assert of_two[0].startswith(f"{names[0]} and {names[1]} are preferred equally (1,000")
    assert of_two[0].endswith(f"not significantly different from them: {names[2]}.")
    assert of_all[0].startswith(f"{names[0]}, {names[1]} and {names[2]} are preferred equally")
