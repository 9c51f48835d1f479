"""What a reader sees while numbers are computed, of older data, or could not be computed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotations.campaigns.actions.setup import delete
from annotations.corpora.actions import data_changed
from annotations.models import CorpusVersion
from leaderboard.models import Analysis
from leaderboard.results import look, rows
from leaderboard.results.computing import compute_waiting
from leaderboard.results.kinds import all_kinds
from tests.campaigns.sets import made_campaign, made_user
from tests.leaderboard.conftest import FOUR_RESPONSES, Rated
from workers.models import MetricRun

pytestmark = [pytest.mark.django_db, pytest.mark.by_workers]

PAGE = "/corpora/{}/agreement/"


@pytest.fixture
def version(rated: Rated, monkeypatch: pytest.MonkeyPatch) -> Iterator[CorpusVersion]:
    monkeypatch.setattr(rows, "BACKOFF", 0)
    monkeypatch.setattr(rows, "MIN_BACKOFF", timedelta(0))
    return rated(FOUR_RESPONSES)


def shown(version: CorpusVersion, client: Client | None = None, **headers: str) -> Any:
    return (client or Client()).get(PAGE.format(version.corpus.slug), headers=headers)


def polled(page: str) -> str:
    (address,) = re.findall(r'hx-get="(/analyses/[^"]+)"', page)
    return address.replace("&amp;", "&")


def ask(address: str) -> Any:
    return Client().get(address, headers={"HX-Request": "true"})


def broken(version: CorpusVersion) -> None:
    shown(version)
    current = Analysis.objects.get(kind="agreement")
    claim = Analysis.objects.claim(current.pk)
    assert claim is not None
    Analysis.objects.owned(claim).renew(
        tried=rows.Wanted(str(version.revision), _made_by()).as_text
    )
    Analysis.objects.owned(claim).fail("ValueError: <b>no</b> people in /srv/secret")


def _made_by() -> str:
    from importlib import import_module

    looking = import_module("leaderboard.results.look")
    return looking.wanted_of(all_kinds()["agreement"], CorpusVersion(revision=0), {}).made_by


def test_a_page_without_numbers_waits_and_asks_by_itself(version: CorpusVersion) -> None:
    page = shown(version)
    text = page.content.decode()
    assert (page.status_code, page["Retry-After"]) == (200, "5")
    assert "no-store" in page["Cache-Control"]
    assert "wait for a worker" in text
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in text
    assert ask(polled(text)).status_code == 204  # nothing has changed


@pytest.mark.parametrize(
    ("part", "steps"),
    [
        ("agreement/", ["Agreement"]),
        ("agreement/raters/", ["Agreement", "Rater effects"]),
        ("metrics/", ["Metric leaderboard"]),
        ("metrics/plots/", ["Metrics", "Plots"]),
        ("metrics/compare/", ["Metrics", "Two metrics compared"]),
        ("metrics/cases/", ["Metrics", "Case study"]),
        ("metrics/heat-map/", ["Metrics", "Heat map of metrics"]),
        ("systems/", ["Systems"]),
        ("systems/compare/", ["Systems", "Two systems"]),
        ("systems/fewer-ratings/", ["Systems", "Fewer ratings"]),
        ("systems/map/", ["Systems", "Map of responses"]),
    ],
)
def test_its_breadcrumb_has_the_tab_that_the_page_is_below(
    version: CorpusVersion, part: str, steps: list[str]
) -> None:
    text = Client().get(f"/corpora/{version.corpus.slug}/{part}").content.decode()
    assert "waiting of-page" in text
    crumbs = text[text.index('class="breadcrumb"') :].partition("</nav>")[0]
    items = re.findall("<li.*?</li>", crumbs, re.DOTALL)
    assert [re.sub("<[^>]+>", "", one).strip() for one in items][2:] == steps


def test_it_is_reloaded_once_they_are_there(version: CorpusVersion) -> None:
    address = polled(shown(version).content.decode())
    compute_waiting()
    assert ask(address)["HX-Refresh"] == "true"
    assert "Krippendorff" in shown(version).content.decode()


def test_it_becomes_the_page_though_its_first_numbers_are_of_older_data_by_then(
    version: CorpusVersion,
) -> None:
    """While runs end or people rate that is so each time: the page would never come by itself."""
    address = polled(shown(version).content.decode())
    compute_waiting()
    data_changed([version.pk])
    assert ask(address)["HX-Refresh"] == "true"


def test_a_page_that_waits_for_a_new_metric_waits_for_the_newer_numbers(
    version: CorpusVersion,
) -> None:
    """Older ones are there all the time: to come back for them would be to come back every two
    seconds."""
    Client().get(f"/corpora/{version.corpus.slug}/metrics/")
    compute_waiting()
    data_changed([version.pk])
    page = (
        Client()
        .get(f"/corpora/{version.corpus.slug}/metrics/plots/?metric=brand_new")
        .content.decode()
    )
    row = Analysis.objects.get(kind="correlations")
    Analysis.objects.claim(row.pk)
    answer = ask(polled(page))
    assert "HX-Refresh" not in answer
    assert "A worker is computing" in answer.content.decode()
    Analysis.objects.filter(pk=row.pk).update(
        state="pending", lease_token="", lease_expires_at=None
    )
    compute_waiting()
    assert ask(polled(answer.content.decode()))["HX-Refresh"] == "true"


def test_a_leaderboard_without_a_metric_becomes_the_one_with_the_first(
    version: CorpusVersion,
) -> None:
    MetricRun.objects.all().delete()
    Client().get(f"/corpora/{version.corpus.slug}/metrics/")
    compute_waiting()
    data_changed([version.pk])
    page = Client().get(f"/corpora/{version.corpus.slug}/metrics/").content.decode()
    assert "Metrics are being compared with human scores" in page
    compute_waiting()
    assert ask(polled(page))["HX-Refresh"] == "true"


def test_the_state_of_a_statistic_whose_campaign_was_deleted_is_that_of_none(
    version: CorpusVersion,
) -> None:
    campaign, lead = made_campaign(), Client()
    lead.force_login(made_user("lead", "organiser"))
    page = lead.get(f"/campaigns/{campaign.slug}/agreement/").content.decode()
    delete(campaign, campaign.slug)
    assert ask(polled(page)).status_code == 404


def test_a_worker_at_it_is_told(version: CorpusVersion) -> None:
    address = polled(shown(version).content.decode())
    Analysis.objects.claim(Analysis.objects.get(kind="agreement").pk)
    assert "A worker is computing" in ask(address).content.decode()


def test_older_numbers_say_so_and_offer_the_new_ones_without_taking_the_page_away(
    version: CorpusVersion,
) -> None:
    shown(version)
    compute_waiting()
    data_changed([version.pk])
    text = shown(version).content.decode()
    assert "Computed less than a minute ago from older data; new numbers are being computed" in text
    assert "Krippendorff" in text
    compute_waiting()
    answer = ask(polled(text))
    assert "HX-Refresh" not in answer
    assert "New numbers are there" in answer.content.decode()
    assert "hx-get" not in answer.content.decode()


def test_older_numbers_say_how_old_they_are(version: CorpusVersion) -> None:
    shown(version)
    compute_waiting()
    Analysis.objects.update(computed_at=timezone.now() - timedelta(minutes=3))
    data_changed([version.pk])
    assert (
        "Computed 3\N{NO-BREAK SPACE}minutes ago from older data" in shown(version).content.decode()
    )


def test_without_a_worker_the_page_says_what_to_do(version: CorpusVersion) -> None:
    shown(version)
    Analysis.objects.update(waits_since=timezone.now() - timedelta(hours=1), hinted_at=None)
    assert "No worker is running" in shown(version).content.decode()


def test_a_download_that_is_not_there_yet_is_no_file(version: CorpusVersion) -> None:
    page = Client().get(PAGE.format(version.corpus.slug) + "?download=agreement.csv")
    assert (page.status_code, page["Retry-After"]) == (503, "5")


def test_what_failed_is_told_to_everybody_and_why_to_organisers(version: CorpusVersion) -> None:
    broken(version)
    text = shown(version).content.decode()
    assert "could not be computed" in text
    assert "secret" not in text
    address = look(version, "agreement", aspect="overall", level="turn").address
    assert b"secret" not in Client().get(address).content
    organiser = Client()
    organiser.force_login(made_user("boss", "organiser"))
    assert b"&lt;b&gt;no&lt;/b&gt; people in /srv/secret" in organiser.get(address).content


def test_organisers_have_it_tried_again(version: CorpusVersion) -> None:
    broken(version)
    address = look(version, "agreement", aspect="overall", level="turn").address
    assert Client().post(f"{address}retry/").status_code == 302
    assert Analysis.objects.get().state == "failed"
    organiser = Client()
    organiser.force_login(made_user("boss", "organiser"))
    assert organiser.post(f"{address}retry/").status_code == 302
    assert Analysis.objects.get().state == "pending"
    compute_waiting()
    assert "Krippendorff" in shown(version).content.decode()


def test_states_are_found_by_signed_addresses_alone(version: CorpusVersion) -> None:
    shown(version)
    pk = Analysis.objects.get().pk
    assert Client().get(f"/analyses/{pk}/").status_code == 404
    assert Client().get(f"/analyses/{pk}.forged/").status_code == 404


def test_the_api_says_202_then_the_numbers_then_that_they_are_older(version: CorpusVersion) -> None:
    address = f"/api/v1/corpora/{version.corpus.slug}/agreement"
    first = Client().get(address)
    assert (first.status_code, first["Retry-After"], first.json()["state"]) == (202, "2", "waiting")
    compute_waiting()
    assert (Client().get(address).status_code, Client().get(address).json()["stale"]) == (
        200,
        False,
    )
    data_changed([version.pk])
    assert Client().get(address).json()["stale"] is True


def test_the_api_says_what_failed(version: CorpusVersion) -> None:
    broken(version)
    answer = Client().get(f"/api/v1/corpora/{version.corpus.slug}/agreement")
    assert (answer.status_code, answer.json()["code"]) == (500, "not_computed")
    assert "secret" not in answer.content.decode()


def test_a_metric_that_is_not_in_the_older_numbers_is_waited_for(version: CorpusVersion) -> None:
    """Whoever handed in its scores is led to it before a worker has computed it. What is in no
    numbers is not found."""
    board = f"/corpora/{version.corpus.slug}/metrics/"
    Client().get(board)
    compute_waiting()
    data_changed([version.pk])
    text = Client().get(f"{board}?metric=just_handed_in").content.decode()
    assert "just_handed_in and human ratings" in text
    part = (
        Client()
        .get(f"{board}plots/?metric=just_handed_in", headers={"HX-Request": "true"})
        .content.decode()
    )
    assert "wait for a worker" in part
    # It asks by itself until it is there
    assert f'hx-get="{board}plots/?metric=just_handed_in"' in part
    compute_waiting()
    for address in (f"{board}?metric=just_handed_in", f"{board}plots/?metric=just_handed_in"):
        assert Client().get(address).status_code == 404


def test_a_filter_that_is_not_computed_yet_keeps_the_older_answer_and_swaps_the_new_one_in(
    version: CorpusVersion,
) -> None:
    board = f"/corpora/{version.corpus.slug}/metrics/"
    Client().get(board)
    compute_waiting()
    Analysis.objects.all().delete()
    of_the_board = {"HX-Request": "true", "HX-Target": "board"}
    answer = Client().get(f"{board}?coefficient=kendall", headers=of_the_board)
    text = answer.content.decode()
    assert answer["HX-Reswap"] == "none"
    assert 'id="board-notice" hx-swap-oob="true"' in text
    assert f'hx-get="{board}?coefficient=kendall"' in text
    assert "for the former choice" in text
    compute_waiting()
    swapped = Client().get(f"{board}?coefficient=kendall", headers=of_the_board)
    assert "HX-Reswap" not in swapped
    assert '<div id="board">' in swapped.content.decode()


def test_a_page_that_waits_says_what_the_last_one_took(version: CorpusVersion) -> None:
    shown(version)
    compute_waiting()
    Analysis.objects.update(answer=None, computed_at=None, stamp="", seconds=39.2)
    text = shown(version).content.decode()
    assert "The last one took 39 s." in text
    assert 'data-expected="39"' in text
