"""The page of single responses with all scores on one scale. Of human scores 1 to 4 and lengths 1,
3, 2, 4 the response of d1 has 2 and 3."""

from __future__ import annotations

import csv

import pytest
from django.test import Client

from leaderboard.pages.cases.query import cases
from leaderboard.results.computing import compute_waiting
from tests.leaderboard.conftest import FOUR_RESPONSES, Rated

pytestmark = pytest.mark.django_db

PAGE = "/corpora/small/metrics/cases/"


def shown(client: Client, query: str = "") -> str:
    client.get(PAGE + query)
    compute_waiting()
    answer = client.get(PAGE + query)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_scores_of_a_dialogue_stand_on_the_scale(rated: Rated, client: Client) -> None:
    """On 1 to 5 people's 2 of 1 to 4 is 1 + 4 · ⅓, the length 3 of 1 to 4 is 1 + 4 · ⅔; ranks 2 and
    3 of 4."""
    rated(FOUR_RESPONSES)
    query = "?dialogue=1&scale=1-5"
    shown(client, query)
    file = client.get(f"{PAGE}{query}&download=cases.csv").content.decode()
    found = {row[0]: row[1:3] for row in csv.reader(file.splitlines()) if len(row) > 2}
    for name, figures in {"human": (1 + 4 / 3, 0.5), "length": (1 + 8 / 3, 0.75)}.items():
        assert [*map(float, found[name])] == pytest.approx(figures)


def test_cases_show_what_was_said(rated: Rated, client: Client) -> None:
    rated(FOUR_RESPONSES)
    page = shown(client)
    assert "4 of 4 rated responses, drawn by seed 0" in page
    assert page.count('<li class="response">') == 4
    assert 'href="/corpora/small/dialogues/2/?version=1&amp;turn=0"' in page
    assert 'href="?seed=1"' in page


def test_dialogues_rated_lower_as_a_whole_are_listed(rated: Rated, client: Client) -> None:
    """Turns of d0: echo 1, dull 4; as wholes 2 and 1.5, so dull's alone is lower, by 2.5."""
    rated(FOUR_RESPONSES, of_dialogues={("d0", "echo"): 2, ("d0", "dull"): 1.5})
    page = shown(client)
    assert "1 of 2 dialogues lower as a whole" in page
    table = page[page.index("Dialogues as a whole") :]
    assert ("dull" in table, "echo" in table, "2.50" in table) == (True, False, True)


def test_a_context_s_last_utterances_are_kept(rated: Rated, monkeypatch) -> None:
    version = rated(FOUR_RESPONSES)
    monkeypatch.setattr("leaderboard.pages.cases.query.UTTERANCES", 0)
    (case, *_) = cases(version, "overall").cases
    assert (case.context, case.earlier) == ((), 1)


def test_a_dialogue_that_nobody_rated_says_so(rated: Rated, client: Client) -> None:
    rated({**FOUR_RESPONSES, ("d3", 0, "echo"): (None, 5)})
    assert "Nobody rated a response of this dialogue" in shown(client, "?dialogue=3")


def test_a_corpus_that_nobody_rated_says_so(rated: Rated, client: Client) -> None:
    rated({("d0", 0, "echo"): (None, 5)}, of_dialogues={("d0", "echo"): 3})
    assert "No response is rated" in shown(client)


@pytest.mark.parametrize(
    "query",
    [
        "?scale=1-7",
        "?seed=100",
        "?seed=-1",
        "?seed=x",
        "?dialogue=9",
        "?dialogue=x",
        "?aspect=none",
    ],
)
def test_what_is_not_there_is_404(rated: Rated, client: Client, query: str) -> None:
    rated(FOUR_RESPONSES)
    assert client.get(PAGE + query).status_code == 404


def test_the_metric_leaderboard_leads_to_it(rated: Rated, client: Client) -> None:
    rated(FOUR_RESPONSES)
    client.get("/corpora/small/metrics/")
    compute_waiting()
    assert f'href="{PAGE}?version=1' in client.get("/corpora/small/metrics/").content.decode()
