"""Scores that differ by the rounding of a sum are one category, and a tie."""

from __future__ import annotations

import numpy as np
import pytest

from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.report import agreement_report
from common.correlation import correlation_estimates

EXACT = np.array([0.3, 0.6, 0.7, 0.3, 0.6, 0.7, 0.1, 0.8])
SUMMED = np.array([0.1 + 0.2, 0.1 + 0.5, 0.1 + 0.6, 0.3, 0.6, 0.7000000000000001, 0.1, 0.1 + 0.7])


def test_raters_whose_scores_differ_in_the_last_bit_agree_fully() -> None:
    assert (EXACT != SUMMED).any()
    matrix = RatingMatrix(
        scores=np.stack([EXACT, SUMMED]),
        dialogue_of_item=np.arange(len(EXACT)),
        raters=("ann", "bob"),
        rater_kind="identified",
    )
    report = agreement_report(matrix, resamples=0)
    assert report.krippendorff_alpha["nominal"].value == 1.0
    assert report.cohen_kappa["unweighted"].mean.value == 1.0
    assert report.fleiss_kappa.kappa.value == 1.0
    assert report.leave_one_out["spearman"].mean.value == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["spearman", "kendall"])
def test_ties_up_to_rounding_are_ties(name: str) -> None:
    other = np.arange(len(EXACT), dtype=float)
    cluster = np.arange(len(EXACT))
    ties, noise = (
        correlation_estimates(scores, other, cluster)[name].value for scores in (EXACT, SUMMED)
    )
    assert noise == ties


def test_a_side_of_equal_scores_has_no_correlation() -> None:
    noise = [0.3, 0.1 + 0.2, 0.3, 0.30000000000000004]
    found = correlation_estimates([1, 2, 3, 4], noise, [0, 1, 2, 3])
    assert {one.reason for one in found.values()} == {"all metric scores are equal"}
