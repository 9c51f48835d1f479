"""Pages of a corpus are computed before somebody looks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client

from annotations.corpora.actions import data_changed
from annotations.models import CorpusVersion, System
from leaderboard.models import Analysis
from leaderboard.results import warming
from leaderboard.results.computing import compute_waiting
from tests.campaigns.arenas import made_arena
from tests.leaderboard.conftest import FOUR_RESPONSES, Rated
from workers.models import MetricRun

pytestmark = [pytest.mark.django_db, pytest.mark.by_workers]


@pytest.fixture
def version(rated: Rated, monkeypatch: pytest.MonkeyPatch) -> Iterator[CorpusVersion]:
    monkeypatch.setattr(warming, "_warm", {})
    return rated(FOUR_RESPONSES)


def warmed() -> None:
    """Two sweeps: the scatter plots are of the metric that the first answers name."""
    for _ in range(2):
        warming.warm()
        compute_waiting()


@pytest.mark.parametrize(
    "part",
    [
        "metrics/",
        "metrics/plots/",
        "metrics/heat-map/",
        "systems/",
        "systems/?part=more",
        "agreement/",
    ],
)
def test_the_first_visitor_of_a_scored_corpus_waits_for_nothing(
    version: CorpusVersion, part: str
) -> None:
    warmed()
    page = Client().get(f"/corpora/{version.corpus.slug}/{part}").content.decode()
    assert "analysis-state" not in page
    assert not Analysis.objects.exclude(state="done").exists()


def test_the_leaderboard_of_a_public_arena_is_computed_before_somebody_looks(
    monkeypatch: pytest.MonkeyPatch, notified: list[int]
) -> None:
    monkeypatch.setattr(warming, "_warm", {})
    arena, _ = made_arena(), made_arena(is_public=False)
    warming.warm()
    requested = Analysis.objects.filter(kind="arena")
    assert [one.parameters for one in requested] == [{"arena": arena.pk}]


def test_what_is_there_is_not_requested_again(version: CorpusVersion) -> None:
    warmed()
    assert warming.warm() == 0
    data_changed([version.pk])
    assert warming.warm() == 0, "what is out of date is refreshed, not requested a second time"


def test_a_corpus_whose_metrics_are_being_computed_waits_for_their_end(
    version: CorpusVersion,
) -> None:
    run = MetricRun.objects.filter(system__version=version).first()
    assert run is not None
    MetricRun.objects.filter(pk=run.pk).update(state="pending")
    assert warming.warm() == 0
    MetricRun.objects.filter(pk=run.pk).update(state="done")
    assert warming.warm() > 0


def test_a_corpus_without_ratings_has_nothing_of_people_requested(version: CorpusVersion) -> None:
    CorpusVersion.objects.filter(pk=version.pk).update(aspects=[])
    System.objects.filter(version=version).update(withheld=True)
    warming.warm()
    assert not Analysis.objects.filter(kind__in=["correlations", "systems", "agreement"]).exists()
