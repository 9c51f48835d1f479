"""Krippendorff's α: worked arithmetic, the krippendorff package, and where it is undefined."""

from __future__ import annotations

import numpy as np
import pytest

from annotations.agreement import krippendorff as module
from annotations.agreement.fleiss import fleiss_kappa
from annotations.agreement.intervals import Jackknife
from annotations.agreement.krippendorff import (
    MEASUREMENTS,
    coincidences_by_dialogue,
    krippendorff_alphas,
)
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.tabulation import tabulate
from common.estimates import Estimate
from tests.annotations.agreement.matrices import (
    _,
    golden,
    grade_matrix,
    matrix_of,
    random_matrix,
    usr_matrix,
)

# Pairs (1,1) (1,2) (2,2) (3,3), each with weight 1 / (2 − 1): o11 = 2, o12 = o21 = 1, o22 = 2, o33
# = 2; the margins are 3, 3, 2 and n = 8. α = 1 − 7 · Σ o δ² / Σ n_c n_k δ².
PAIRS = ([1, 1, 2, 3], [1, 2, 2, 3])


def alphas(matrix: RatingMatrix) -> dict[str, Estimate]:
    table = tabulate(matrix)
    return dict(krippendorff_alphas(table, Jackknife.none(table.dialogues)))


def test_nominal_counts_every_difference_as_one() -> None:
    # observed 1 + 1 = 2; expected 64 − (9 + 9 + 4) = 42
    assert alphas(matrix_of(*PAIRS))["nominal"].value == pytest.approx(1 - 7 * 2 / 42, abs=1e-12)


def test_ordinal_distance_is_the_ratings_between_the_levels() -> None:
    # Midranks 1.5, 4.5, 7: δ²12 = 9, δ²13 = 30.25, δ²23 = 6.25; observed 18; expected 2 (9·9 +
    # 6·30.25 + 6·6.25) = 600
    assert alphas(matrix_of(*PAIRS))["ordinal"].value == pytest.approx(1 - 7 * 18 / 600, abs=1e-12)


def test_interval_distance_is_the_squared_difference() -> None:
    # observed 2; expected 2 (9·1 + 6·4 + 6·1) = 78
    assert alphas(matrix_of(*PAIRS))["interval"].value == pytest.approx(1 - 7 * 2 / 78, abs=1e-12)


def test_ratio_distance_is_the_squared_difference_over_the_sum() -> None:
    # δ²12 = 1/9, δ²13 = 1/4, δ²23 = 1/25; observed 2/9; expected 2 (9/9 + 6/4 + 6/25) = 5.48
    assert alphas(matrix_of(*PAIRS))["ratio"].value == pytest.approx(
        1 - 7 * (2 / 9) / 5.48, abs=1e-12
    )


def test_an_item_with_one_rating_changes_nothing() -> None:
    with_single = alphas(matrix_of([1, 1, 2, 3, 5], [1, 2, 2, 3, _]))
    assert [with_single[m].value for m in MEASUREMENTS] == [
        alphas(matrix_of(*PAIRS))[m].value for m in MEASUREMENTS
    ]


def test_systematic_disagreement_is_negative() -> None:
    # o12 = o21 = 2, margins 2 and 2, n = 4: 1 − 3 · 4 / 8
    assert alphas(matrix_of([1, 2], [2, 1]))["nominal"].value == pytest.approx(-0.5, abs=1e-12)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_equals_the_krippendorff_package_with_missing_ratings(measurement: str) -> None:
    package = pytest.importorskip("krippendorff")
    matrix = random_matrix(6, 200, seed=3, missing=0.4)
    expected = package.alpha(reliability_data=matrix.scores, level_of_measurement=measurement)
    assert alphas(matrix)[measurement].value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_equals_the_krippendorff_package_on_unequal_steps_and_fractions(measurement: str) -> None:
    package = pytest.importorskip("krippendorff")
    matrix = random_matrix(4, 120, seed=4, missing=0.2)
    scores = np.array([np.nan, 0.0, 0.5, 2.0, 2.5, 10.0])[np.nan_to_num(matrix.scores).astype(int)]
    matrix = RatingMatrix(scores, matrix.dialogue_of_item, matrix.raters)
    expected = package.alpha(reliability_data=scores, level_of_measurement=measurement)
    assert alphas(matrix)[measurement].value == pytest.approx(expected, abs=1e-9)


def test_sparse_coincidences_equal_dense_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    table = tabulate(random_matrix(5, 80, seed=5, missing=0.3))
    dense = coincidences_by_dialogue(table)
    monkeypatch.setattr(module, "DENSE_CELLS", 0)
    np.testing.assert_allclose(coincidences_by_dialogue(table).toarray(), dense, atol=1e-12)


def test_constant_scores_are_undefined() -> None:
    # 0/0: no disagreement, and none to be expected
    alpha = alphas(matrix_of([3, 3, 3], [3, 3, 3]))["ordinal"]
    assert alpha.value is None
    assert "equal" in alpha.reason


def test_a_slider_s_thousands_of_levels_are_not_counted() -> None:
    """Two raters of 3,000 responses, no score twice: 36 million pairs of levels would be held
    several times over."""
    first = np.arange(3_000.0)
    table = tabulate(matrix_of(list(first), list(first + 0.5)))
    no_intervals = Jackknife.none(table.dialogues)
    assert {one.reason for one in krippendorff_alphas(table, no_intervals).values()} == {
        "6,000 different scores: agreement by levels is counted up to 1,500"
    }
    assert fleiss_kappa(table, no_intervals).kappa.reason.startswith("6,000 different scores")


def test_no_overlap_is_undefined() -> None:
    alpha = alphas(matrix_of([1, 2, _, _], [_, _, 3, 4]))["interval"]
    assert alpha == Estimate.undefined("no item was judged by two raters")


def test_one_rater_is_undefined() -> None:
    assert alphas(matrix_of([1, 2, 3], [_, _, _]))["nominal"] == Estimate.undefined(
        "fewer than two raters"
    )


def test_ratio_is_undefined_below_zero_and_only_ratio() -> None:
    found = alphas(matrix_of([-1, 1, 0], [-1, 1, 1]))
    assert found["ratio"].value is None
    assert found["interval"].value is not None


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_equals_the_reference_on_a_small_matrix_with_gaps(measurement: str) -> None:
    document = golden()["doc_example"]
    found = alphas(matrix_of(*document["matrix"]))[measurement].value
    assert found == pytest.approx(document[measurement], abs=1e-9)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
@pytest.mark.parametrize(
    "corpus", ["dailydialog_EVAL", "convai2", "empatheticdialogues", "all1200"]
)
def test_equals_the_reference_on_grade(corpus: str, measurement: str) -> None:
    expected = golden()["sets"][f"grade_{corpus}"]["krippendorff_alpha"][measurement]
    found = alphas(grade_matrix(None if corpus == "all1200" else corpus))[measurement].value
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
@pytest.mark.parametrize("aspect", ["Overall", "Engaging"])
def test_equals_the_reference_on_usr(aspect: str, measurement: str) -> None:
    expected = golden()["sets"][f"usr_persona_{aspect}_named"]["krippendorff_alpha"][measurement]
    assert alphas(usr_matrix(aspect))[measurement].value == pytest.approx(expected, abs=1e-9)
