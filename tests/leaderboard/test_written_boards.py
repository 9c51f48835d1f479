"""Drawings and tables of boards are written once for all who read them, and never outlive what they
are of."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.corpora.actions import data_changed
from leaderboard.results.rows import drop
from tests.leaderboard.test_system_board import STEADY, Made, made, odd_metrics  # noqa: F401 (fixtures)

pytestmark = pytest.mark.django_db

BOARDS = {
    "systems": ("/corpora/small/systems/", "leaderboard.pages.systems.view.system_board"),
    "metrics": ("/corpora/small/metrics/", "leaderboard.pages.metrics.view.metric_board"),
    "agreement": (
        "/corpora/small/agreement/",
        "leaderboard.pages.raters.view.agreement_tables",
    ),
    "rater effects": (
        "/corpora/small/agreement/raters/",
        "leaderboard.pages.raters.view.rater_table",
    ),
    "fewer ratings": (
        "/corpora/small/systems/fewer-ratings/",
        "leaderboard.pages.fewer_ratings.view.powered_table",
    ),
    "beneath the systems": (
        "/corpora/small/systems/?part=more",
        "leaderboard.pages.systems.view.misleading_table",
    ),
    "plots": ("/corpora/small/metrics/plots/", "leaderboard.pages.metrics.view.figure_of"),
}


@pytest.fixture
def tables_made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the boards whose table was made, one a time."""
    calls: list[str] = []
    for name, (_, path) in BOARDS.items():
        module, _, function = path.rpartition(".")
        make = getattr(__import__(module, fromlist=[function]), function)

        def memoize(*given: Any, name: str = name, make: Any = make, **named: Any) -> Any:
            calls.append(name)
            return make(*given, **named)

        monkeypatch.setattr(path, memoize)
    return calls


def body(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def board_of(page: str) -> str:
    found = re.search(r'<table class="figures">.*</table>', page, re.DOTALL)
    assert found
    return found[0]


@pytest.mark.parametrize("board", BOARDS)
def test_who_comes_second_gets_the_same_page_of_which_no_table_is_made(
    board: str,
    client: Client,
    made: Made,  # noqa: F811
    tables_made: list[str],
) -> None:
    made(STEADY)
    first, second = (body(client, BOARDS[board][0]) for _ in range(2))
    assert first == second
    assert tables_made == [board] * (4 if board == "plots" else 1)  # each plot has one


def test_another_order_of_the_rows_is_another_table(client: Client, made: Made) -> None:  # noqa: F811
    made(STEADY)
    falling, rising = (
        body(client, f"/corpora/small/systems/?sort={sort}") for sort in ("-human", "human")
    )
    assert (
        re.findall(r'<tr data-id="system-(\d)"', falling)[-3:]
        == re.findall(r'<tr data-id="system-(\d)"', rising)[-1:-4:-1]
    )


def test_another_order_is_put_together_from_the_table_that_was_made(
    client: Client,
    made: Made,  # noqa: F811
    tables_made: list[str],
) -> None:
    made(STEADY)
    for asked in ("sort=human", "sort=-human", "columns=human", "sort=system&columns=rank"):
        body(client, f"/corpora/small/systems/?{asked}")
    assert tables_made == ["systems"]


def test_a_withdrawn_system_is_on_no_page_from_that_moment_on(client: Client, made: Made) -> None:  # noqa: F811
    version = made(STEADY)
    assert "fair" in board_of(body(client, "/corpora/small/systems/"))
    version.systems.filter(name="fair").update(withheld=True)
    data_changed([version.pk])
    drop([version.pk])
    assert "fair" not in body(client, "/corpora/small/systems/")


def test_a_corpus_that_is_hidden_is_hidden_though_its_board_was_written(
    client: Client,
    made: Made,  # noqa: F811
) -> None:
    version = made(STEADY)
    body(client, "/corpora/small/systems/")
    type(version.corpus).objects.update(is_public=False)
    assert client.get("/corpora/small/systems/").status_code == 404


def test_what_a_logged_in_reader_was_shown_is_not_shown_to_the_next(
    client: Client,
    made: Made,  # noqa: F811
) -> None:
    made(STEADY)
    named = Client()
    named.force_login(User.objects.create_superuser("a.name.of.a.person", password="p"))
    for address, _ in BOARDS.values():
        assert "a.name.of.a.person" in body(named, address)
        stranger = body(client, address)
        assert "a.name.of.a.person" not in stranger
        assert "csrfmiddlewaretoken" not in board_of(stranger)
