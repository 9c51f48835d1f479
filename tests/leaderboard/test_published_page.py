"""The page of papers' tables: printed figures of a corpus, and ours beneath them."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client

from annotations.models import Corpus
from leaderboard.pages.published.query import is_published
from leaderboard.reproduction import fbd
from tests.leaderboard.conftest import Rated
from tests.leaderboard.trained import AS_PEOPLE, PLACES, scored, submitted

pytestmark = pytest.mark.django_db


def page_of(slug: str, part: str = "metrics/published/", **query: str) -> str:
    answer = Client().get(f"/corpora/{slug}/{part}", query)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def personam(rated: Rated, monkeypatch: pytest.MonkeyPatch) -> str:
    """Three systems with mean scores 1, 2 and 3 whose lengths rise alike; ``length`` stands where
    BLEU does."""
    monkeypatch.setattr(fbd, "OURS", dict.fromkeys(fbd.OURS, "constant") | {"BLEU": "length"})
    rated({("d0", 0, "echo"): (1, 1), ("d0", 0, "dull"): (2, 2), ("d0", 0, "long"): (3, 4)})
    Corpus.objects.update(slug="personam")
    return "personam"


def test_ours_stand_beneath_the_printed_figures(personam: str) -> None:
    rows = list(
        csv.DictReader(
            io.StringIO(page_of(personam, download="published-0-0.csv").lstrip("\ufeff"))
        )
    )
    of_bleu = [row for row in rows if row["metric"] == "BLEU"]
    assert [row["source"] for row in of_bleu] == ["paper", "length"]
    first = next(name for name in of_bleu[0] if "ρ" in name or "figure-0" in name)
    assert [float(row[first]) for row in of_bleu] == [0.4, pytest.approx(1.0)]


def test_the_page_says_first_how_many_figures_agree(personam: str) -> None:
    """ρ = 1 and r = .98198 beside BLEU's .400 and .672; twelve rows of two figures are printed."""
    text = " ".join(page_of(personam).split())
    assert "Of 24 printed figures 2 have ours beside them; 0 of these agree" in text
    assert text.index("Of 24 printed") < text.index("<table")


def test_submitted_metrics_and_trained_ones_have_lines(rated: Rated) -> None:
    version = rated(PLACES)
    Corpus.objects.update(slug="grade-convai2")
    version.refresh_from_db()
    submitted(version, "usl_h", AS_PEOPLE)
    scored(version, "bleu_2", AS_PEOPLE)
    text = page_of("grade-convai2")
    assert "usl_h" in text
    assert "bleu_2" in text
    assert "DEnsity: Open-domain Dialogue" in text
    assert "Mutual Information" in text


def test_a_corpus_of_no_paper_has_nothing_to_show(rated: Rated) -> None:
    rated(PLACES)
    assert "No paper has figures of this corpus" in page_of("small")
    assert "metrics/published/" not in page_of("small", "metrics/")


def test_the_metric_leaderboard_leads_there(personam: str) -> None:
    assert f"/corpora/{personam}/metrics/published/" in page_of(personam, "metrics/")


@pytest.mark.parametrize(
    ("slug", "known"), [("usr", True), ("dailyz", True), ("fed", True), ("demo", False)]
)
def test_a_corpus_is_known_by_its_slug(slug: str, known: bool) -> None:
    assert is_published(slug) is known
