"""What the agreement pages say in a sentence, in the matrix and of each rater."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotations.agreement.cohen import PairKappa, PairwiseKappa
from annotations.agreement.icc import IntraclassCorrelation
from annotations.agreement.leave_one_out import LeaveOneOut
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.report import AgreementReport, agreement_report
from annotations.agreement.score_use import RaterScores, ScoreUse, score_use
from common.estimates import Estimate
from leaderboard.pages.raters.matrix import pair_matrix
from leaderboard.pages.raters.verdict import verdict
from tests.leaderboard.test_rater_pages import panel

NAN = float("nan")


def document(
    alpha: float | None, ci: tuple[float, float] | None = None, reason: str = ""
) -> AgreementReport:
    plain = Estimate(0.5, (0.4, 0.6))
    nobody = agreement_report(RatingMatrix(np.empty((0, 0)), np.empty(0, dtype=np.int64), ()))
    return replace(
        nobody,
        krippendorff_alpha={"ordinal": Estimate(alpha, ci, reason=reason), "nominal": plain},
        icc=IntraclassCorrelation(plain, plain, 3),
        leave_one_out={"pearson": LeaveOneOut(Estimate.undefined("fewer than two raters"))},
    )


def kappas(*pairs: PairKappa) -> PairwiseKappa:
    return PairwiseKappa(Estimate(0.4), pairs)


@pytest.mark.parametrize(
    ("alpha", "ci", "sentence"),
    [
        (0.85, (0.81, 0.9), "agree reliably. Krippendorff's ordinal α is 0.85 [0.81, 0.90], above"),
        (0.7, (0.68, 0.72), "for tentative conclusions. Krippendorff's ordinal α is 0.70"),
        (0.5, (0.4, 0.6), "less than is usually required. Krippendorff's ordinal α is 0.50"),
        (-0.1, (-0.3, 0.1), "no more than by chance. Krippendorff's ordinal α is −0.10"),
        (0.65, (0.59, 0.71), "the interval includes 0.667."),
        (0.7, (0.5, 0.9), "the interval includes 0.667 and 0.80."),
    ],
)
def test_the_sentence_names_alpha_and_the_threshold(
    alpha: float, ci: tuple[float, float], sentence: str
) -> None:
    assert sentence in verdict(document(alpha, ci)).sentence


def test_without_alpha_the_sentence_says_why() -> None:
    found = verdict(document(None, reason="fewer than two raters"))
    assert (found.sentence, found.gauge) == ("No verdict: fewer than two raters.", None)


def test_the_gauge_ends_at_0_and_1() -> None:
    """−0.1 stands at 0 %, 0.25 at 25 %."""
    gauge = verdict(document(-0.1, (-0.5, 0.25))).gauge
    assert gauge is not None
    assert (gauge.value, gauge.low, gauge.high) == ("0.0%", "0.0%", "25.0%")


def test_what_stands_beside_alpha_is_undefined_with_its_reason() -> None:
    figures = verdict(document(0.5)).figures
    assert figures[0][1:] == ("–", "undefined: fewer than two raters")
    assert figures[1][1] == "0.50 [0.40, 0.60]"


def test_pairs_beyond_the_stored_ones_have_a_reason() -> None:
    """Three raters, one stored pair: two cells of each half have none."""
    pairs = (
        PairKappa(("a", "b"), 9, Estimate(0.45)),
        PairKappa(("b", "c"), 0, Estimate.undefined("no item in common")),
    )
    found = pair_matrix(kappas(*pairs), "quadratic", {"a": "rater 1"})
    assert found.raters == ("rater 1", "b", "c")
    (_, first), *_ = found.rows
    assert [cell.value for cell in first] == [None, 0.45, None]
    assert (first[1].items, first[1].tint) == (9, 2)  # from 0.4 on, in fifths
    assert [reason for _, reason in found.reasons] == [
        "no item in common",
        "not among the pairs with most common items; the file has every pair",
    ]


def test_only_the_raters_asked_for_are_in_the_matrix() -> None:
    pairs = (
        PairKappa(("a", "b"), 9, Estimate(0.4)),
        PairKappa(("a", "c"), 9, Estimate(0.4)),
    )
    found = pair_matrix(kappas(*pairs), "quadratic", only=["a", "c"])
    assert (found.raters, found.raters_in_all) == (("a", "c"), 3)


def test_score_use_counts_along_the_scale() -> None:
    """5, 5 and 1 of five steps: counts 1, 0, 0, 0, 2, mean 11/3; a rater without ratings is
    none."""
    matrix = RatingMatrix(
        np.array([[5, 5, 1], [NAN, NAN, NAN]]),
        np.arange(3),
        ("ann", "bob"),
        levels=(1.0, 2.0, 3.0, 4.0, 5.0),
    )
    [ann] = score_use(matrix).raters
    assert (ann.ratings, ann.counts) == (3, (1, 0, 0, 0, 2))
    assert ann.mean == pytest.approx(11 / 3)


def test_scores_between_the_steps_have_no_counts() -> None:
    matrix = RatingMatrix(np.array([[1.5, 2.0]]), np.arange(2), ("ann",), levels=(1.0, 2.0))
    assert score_use(matrix) == ScoreUse(None, (RaterScores("ann", 2, 1.75, None),))


def test_nobody_is_named_where_raters_are_anonymous() -> None:
    matrix = RatingMatrix(np.array([[1.0, 2.0]]), np.arange(2), ("1",), rater_kind="anonymous")
    assert score_use(matrix).raters == ()


@pytest.mark.django_db
def test_the_page_has_verdict_matrix_and_raters_under_pseudonyms(
    tmp_path: Path, client: Client
) -> None:
    panel(tmp_path)
    text = client.get(reverse("agreement", args=["small"])).content.decode()
    for words in ("ordinal α is", "Each rater with each other", "Scores of each rater"):
        assert words in text
    assert "xavier" not in text


@pytest.mark.django_db
def test_the_file_of_raters_is_complete(tmp_path: Path, client: Client) -> None:
    panel(tmp_path)
    address = reverse("agreement", args=["small"])
    lines = client.get(address, {"download": "rater-scores.csv"}).content.decode().splitlines()
    assert len(lines) == 1 + 3
