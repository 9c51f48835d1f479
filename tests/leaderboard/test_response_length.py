"""Response length as the baseline of the metric leaderboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from annotations.models import CorpusVersion
from leaderboard.pages.metrics.filters import BoardParams
from leaderboard.pages.metrics.lane import metric_lane
from leaderboard.pages.metrics.tables import metric_board
from leaderboard.pages.metrics.text import headline
from leaderboard.queries import meta_evaluation
from leaderboard.queries.comparisons import compared_pairs
from tests.annotations.stored import dialogue, rated_corpus, stored
from tests.workers.conftest import odd_metrics  # noqa: F401 (a fixture)

pytestmark = pytest.mark.django_db

TEXTS = ("", "one\u00a0two", "The one,  two\nthree", "Un deux trois quatre cinq.")
"""0, 2, 3 and 5 words: a no-break space separates, articles and punctuation are no words."""


def made(folder: Path, texts: tuple[str, ...], metrics: str = "length") -> CorpusVersion:
    """One system, which says one of the texts in each dialogue; rated 1, 2, 3, 4."""
    records = rated_corpus(
        [dialogue(f"d{number}") for number in range(4)],
        {(f"d{number}", 0, "echo"): text for number, text in enumerate(texts)},
        {(f"d{number}", 0, "echo"): {"ann": number + 1.0} for number in range(4)},
    )
    version = stored(records, folder)
    call_command("score", corpus="small", metrics=metrics, inline=True)
    version.refresh_from_db()
    return version


def test_it_is_the_number_of_words_correlated_as_a_metric_is(
    tmp_path: Path,
    odd_metrics: None,  # noqa: F811
) -> None:
    """Ratings 1 to 4: deviations ∓1.5, ∓0.5. Words 0, 2, 3, 5: −2.5, −0.5, 0.5, 2.5. Products 3.75
    + 0.25 + 0.25 + 3.75 = 8; squares 5 and 13; r = 8 / √65."""
    document = meta_evaluation(made(tmp_path, TEXTS), "overall", ["turn"], resamples=0)
    (baseline,) = document.baseline
    assert (baseline.metric, baseline.n, baseline.coverage) == ("response length", 4, 1.0)
    assert baseline.pearson.value == pytest.approx(8 / 65**0.5)
    assert baseline.spearman.value == pytest.approx(1.0)
    assert baseline.signature.startswith("metric:response_length|version:1|normalize:true|")


def test_where_all_responses_are_of_one_length_it_is_undefined_and_says_why(
    tmp_path: Path,
    odd_metrics: None,  # noqa: F811
) -> None:
    version = made(tmp_path, ("b b", "c d", "e f", "g h"))
    document = meta_evaluation(version, "overall", ["turn"], resamples=0)
    (baseline,) = document.baseline
    assert baseline.pearson.value is None
    assert baseline.pearson.reason
    row = next(one for one in metric_board(document, None).rows if one.id == "response-length")
    assert row.cell("turn-pearson").reason == baseline.pearson.reason
    assert "response length" not in headline(document, BoardParams(), None)[1]


def test_the_metric_is_the_same_number_and_no_second_row(
    tmp_path: Path,
    odd_metrics: None,  # noqa: F811
) -> None:
    version = made(tmp_path, TEXTS, "length,response_length")
    document = meta_evaluation(version, "overall", ["turn"], resamples=0)
    assert [row.metric for row in document.rows] == ["length"]
    assert compared_pairs(version, "overall", "turn").metrics == ("length",)
    named = meta_evaluation(version, "overall", ["turn"], ["response_length"], resamples=0)
    ((row,), (baseline,)) = named.rows, named.baseline
    assert (row.pearson.value, row.n) == (baseline.pearson.value, baseline.n)


def test_it_is_neither_ranked_nor_tested(
    tmp_path: Path,
    odd_metrics: None,  # noqa: F811
) -> None:
    """Characters: 0, 3, 6, 9 correlate at 1, tokens less."""
    version = made(tmp_path, ("", "b c", "b c  d", "b c d e f"), "length,constant")
    document = meta_evaluation(version, "overall", ["turn"], resamples=0)
    assert {row.metric for row in document.rows} == {"length", "constant"}
    assert set(compared_pairs(version, "overall", "turn").metrics) == {"length", "constant"}
    table = metric_board(document, None)
    row = next(one for one in table.rows if one.id == "response-length")
    assert (row.badges, row.pick) == (("baseline",), "")
    assert not any(cell.best for cell in row.cells.values())
    lane = metric_lane(document, BoardParams(), None, "length", ())
    assert lane is not None
    assert lane.kinds["response-length"] == "baseline"
    assert [mark.label for mark in lane.marks if mark.kind == "baseline"] == [
        f"response length {row.cell('turn-pearson').value:.2f}"
    ]
    assert (
        "None of 1 metric scores below response length"
        in headline(document, BoardParams(), None)[1]
    )


def test_where_shorter_responses_are_rated_higher_metrics_are_held_against_its_size(
    tmp_path: Path,
    odd_metrics: None,  # noqa: F811
) -> None:
    """Ratings 1 to 4 of 5, 3, 2 and 0 words: r = −8 / √65 = −0.99. Characters fall in the same
    order, so that length scores below −0.9, which is below +0.99."""
    version = made(tmp_path, TEXTS[::-1])
    said = headline(
        meta_evaluation(version, "overall", ["turn"], resamples=0), BoardParams(), None
    )[1]
    assert (
        "1 of 1 metric scores below response length in size (r = −0.99: shorter responses are "
        "rated higher)." in said
    )


def test_page_file_and_api_have_one_number(
    client: Client,
    tmp_path: Path,
    odd_metrics: None,  # noqa: F811
) -> None:
    version = made(tmp_path, TEXTS)
    value = 8 / 65**0.5
    board = f"/corpora/{version.corpus.slug}/metrics/"
    page = client.get(board).content.decode()
    assert 'data-id="response-length" class="baseline"' in page
    file = client.get(f"{board}?download=metric-leaderboard.json").json()
    row = next(one for one in file["rows"] if one["id"] == "response-length")
    assert row["cells"]["turn-pearson"]["value"] == pytest.approx(value)
    answer = client.get(f"/api/v1/corpora/{version.corpus.slug}/correlations?level=turn").json()
    assert [one["pearson"]["value"] for one in answer["baseline"]] == [pytest.approx(value)]
