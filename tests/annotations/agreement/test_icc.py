"""ICC(2,1) and ICC(2,k): worked arithmetic, pingouin's numbers on complete data, and partial
overlap."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from annotations.agreement.icc import IntraclassCorrelation, intraclass_correlation
from annotations.agreement.intervals import Jackknife
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.tabulation import tabulate
from tests.annotations.agreement.matrices import (
    _,
    golden,
    grade_matrix,
    matrix_of,
    packed_left,
    random_matrix,
    usr_matrix,
)


def icc(matrix: RatingMatrix) -> IntraclassCorrelation:
    table = tabulate(matrix)
    return intraclass_correlation(table, Jackknife.none(table.dialogues))


def test_a_rater_who_is_always_one_higher_lowers_absolute_agreement() -> None:
    # Mean squares: items 4/2 = 2, raters 1.5/1 = 1.5, error 0. σ²_i = 2/2 = 1, σ²_r = 1.5/3 = 0.5,
    # σ²_e = 0.
    found = icc(matrix_of([1, 2, 3], [2, 3, 4]))
    assert found.single.value == pytest.approx(1 / 1.5, abs=1e-12)
    assert found.mean_of_k.value == pytest.approx(1 / 1.25, abs=1e-12)
    assert found.k == 2


def test_perfect_agreement_is_one() -> None:
    assert icc(matrix_of([1, 4, 2], [1, 4, 2], [1, 4, 2])).single.value == pytest.approx(
        1.0, abs=1e-12
    )


def by_projections(scores: NDArray[np.float64]) -> tuple[float, float, float]:
    """σ² of items, raters and error by method 3 from the definition: reductions in sum of squares
    by least squares on indicator columns, and their expected values as traces of projections."""
    rater, item = np.nonzero(~np.isnan(scores))
    observed = scores[rater, item]
    item_columns = (item[:, None] == np.unique(item)).astype(float)
    rater_columns = (rater[:, None] == np.unique(rater)).astype(float)

    def projection(columns: NDArray[np.float64]) -> NDArray[np.float64]:
        return columns @ np.linalg.pinv(columns)

    both = projection(np.hstack([item_columns, rater_columns]))
    forms = [
        both - projection(rater_columns),
        both - projection(item_columns),
        np.eye(observed.size) - both,
    ]
    expectations = [
        [
            np.trace(item_columns.T @ form @ item_columns),
            np.trace(rater_columns.T @ form @ rater_columns),
            np.trace(form),
        ]
        for form in forms
    ]
    components = np.linalg.solve(
        np.array(expectations), [observed @ form @ observed for form in forms]
    )
    return float(components[0]), float(components[1]), float(components[2])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_partial_overlap_equals_least_squares_from_the_definition(seed: int) -> None:
    matrix = random_matrix(5, 40, seed=seed, missing=0.45)
    items, raters, error = by_projections(matrix.scores)
    found = icc(matrix)
    assert found.single.value == pytest.approx(items / (items + raters + error), abs=1e-9)
    assert found.mean_of_k.value == pytest.approx(
        items / (items + (raters + error) / found.k), abs=1e-9
    )


def test_groups_of_raters_without_a_common_item_equal_the_definition() -> None:
    scores = random_matrix(4, 60, seed=9).scores
    scores[:2, :30] = np.nan
    scores[2:, 30:] = np.nan
    items, raters, error = by_projections(scores)
    found = icc(RatingMatrix(scores, np.arange(60), ("a", "b", "c", "d")))
    assert found.single.value == pytest.approx(items / (items + raters + error), abs=1e-9)


def test_partial_overlap_finds_the_variances_that_made_the_scores() -> None:
    random = np.random.default_rng(11)
    # σ² = 1.0 of 4,000 items, 0.5 of 60 raters, 0.5 of error: ICC(2,1) = 0.5. Each item is judged
    # by about 6 raters.
    scores = (
        random.normal(0, 1, 4000)
        + random.normal(0, 0.5**0.5, (60, 1))
        + random.normal(0, 0.5**0.5, (60, 4000))
    )
    scores[random.random(scores.shape) > 0.1] = np.nan
    found = icc(RatingMatrix(scores, np.arange(4000), tuple(map(str, range(60)))))
    # 60 raters leave σ²_r a relative standard error of √(2/59) = 0.18, so 0.025 in the ICC; this is
    # twice that.
    assert found.single.value == pytest.approx(0.5, abs=0.05)


def test_a_large_offset_costs_no_digits() -> None:
    matrix = random_matrix(4, 50, seed=2, missing=0.2)
    shifted = RatingMatrix(matrix.scores + 1e6, matrix.dialogue_of_item, matrix.raters)
    assert icc(shifted).single.value == pytest.approx(icc(matrix).single.value, abs=1e-9)


def test_one_degree_of_freedom_of_the_error_is_enough() -> None:
    """Means of items 1.5 and 3.5, of raters 2.5: mean squares 4, 0 and 1, so σ²_i = (4 − 1)/2, σ²_r
    = (0 − 1)/2, σ²_e = 1, and 1.5 / (1.5 − 0.5 + 1)."""
    assert icc(matrix_of([1, 4], [2, 3])).single.value == pytest.approx(0.75)


def test_raters_that_share_too_few_items_are_undefined() -> None:
    # Two items, each with its own two raters: no degree of freedom is left for the error.
    found = icc(matrix_of([1, _], [2, _], [_, 3], [_, 5]))
    assert found.single.value is None
    assert "share too few items" in found.single.reason


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (matrix_of([1, 2, 3]), "fewer than two raters"),
        (matrix_of([1, _], [_, 2]), "no item was judged by two raters"),
        (matrix_of([2, 2], [2, 2]), "all scores are equal"),
    ],
)
def test_is_undefined_with_its_reason(matrix: RatingMatrix, reason: str) -> None:
    found = icc(matrix)
    assert (found.single.reason, found.mean_of_k.reason, found.k) == (reason, reason, 0)


@pytest.mark.parametrize(
    "name",
    [
        "grade_dailydialog_EVAL",
        "grade_convai2",
        "grade_empatheticdialogues",
        "grade_all1200",
        "usr_persona_Overall_named",
        "usr_persona_Engaging_named",
    ],
)
def test_complete_data_equal_pingouin(name: str) -> None:
    reference = golden()["sets"][name]
    if name.startswith("usr"):
        matrix = usr_matrix(name.split("_")[2])
    else:
        matrix = grade_matrix(None if name.endswith("1200") else name.removeprefix("grade_"))
    found = icc(packed_left(matrix, reference["equal_n_subset"]["ratings_per_unit"]))
    assert found.single.value == pytest.approx(
        reference["icc_pingouin"]["ICC(A,1)"]["ICC"], abs=1e-9
    )
    assert found.mean_of_k.value == pytest.approx(
        reference["icc_pingouin"]["ICC(A,k)"]["ICC"], abs=1e-9
    )


def test_usr_with_its_named_raters_stays_near_the_packed_matrix() -> None:
    # Packing mixes persons in a row, so the values differ, by the share of variance that is between
    # raters.
    reference = golden()["sets"]["usr_persona_Overall_named"]["icc_pingouin"]
    found = icc(usr_matrix("Overall"))
    assert found.k == 3
    assert found.single.value == pytest.approx(reference["ICC(A,1)"]["ICC"], abs=0.01)
    assert found.mean_of_k.value == pytest.approx(reference["ICC(A,k)"]["ICC"], abs=0.01)
