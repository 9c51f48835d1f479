"""Fleiss' κ: worked arithmetic, reference numbers, which items it takes, and where it is
undefined."""

from __future__ import annotations

import pytest

from annotations.agreement.fleiss import FleissKappa, fleiss_kappa
from annotations.agreement.intervals import Jackknife
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.tabulation import tabulate
from tests.annotations.agreement.matrices import _, golden, grade_matrix, matrix_of, usr_matrix


def fleiss(matrix: RatingMatrix) -> FleissKappa:
    table = tabulate(matrix)
    return fleiss_kappa(table, Jackknife.none(table.dialogues))


def test_is_agreement_beyond_chance() -> None:
    # P̄ = 3/4; shares 3/8, 3/8, 2/8: P̄_e = 22/64; (48 − 22) / (64 − 22)
    found = fleiss(matrix_of([1, 1, 2, 3], [1, 2, 2, 3]))
    assert found.kappa.value == pytest.approx(26 / 42, abs=1e-12)


def test_three_raters_agree_in_pairs() -> None:
    # (1,1,2): P = 2/6; (2,2,2): P = 1. P̄ = 2/3; shares 2/6 and 4/6: P̄_e = 20/36; (24 − 20) / (36
    # − 20)
    assert fleiss(matrix_of([1, 2], [1, 2], [2, 2])).kappa.value == pytest.approx(4 / 16, abs=1e-12)


def test_takes_the_largest_set_of_items_with_equally_many_ratings() -> None:
    found = fleiss(matrix_of([1, 1, 2, 3, 5, 4], [1, 2, 2, 3, 1, _], [_, _, _, _, 3, _]))
    assert (found.items, found.ratings_per_item) == (4, 2)
    assert found.kappa.value == pytest.approx(26 / 42, abs=1e-12)


def test_of_equally_large_sets_takes_the_one_with_more_ratings() -> None:
    found = fleiss(matrix_of([1, 2, 1, 2], [1, 2, 2, 2], [1, 2, _, _]))
    assert (found.items, found.ratings_per_item) == (2, 3)


def test_constant_scores_are_undefined() -> None:
    assert (
        fleiss(matrix_of([2, 2], [2, 2])).kappa.reason
        == "all scores of the 2 items with 2 ratings are equal"
    )


def test_no_overlap_is_undefined() -> None:
    assert fleiss(matrix_of([1, _], [_, 2])).kappa.reason == "no item was judged by two raters"


@pytest.mark.parametrize("corpus", ["dailydialog_EVAL", "convai2", "empatheticdialogues", None])
def test_equals_the_reference_on_grade(corpus: str | None) -> None:
    expected = golden()["sets"][f"grade_{corpus or 'all1200'}"]["fleiss_kappa"]
    found = fleiss(grade_matrix(corpus))
    assert found.kappa.value == pytest.approx(expected["fleiss"], abs=1e-9)
    assert (found.items, found.ratings_per_item) == (expected["n_units"], expected["n_raters"])


@pytest.mark.parametrize("aspect", ["Overall", "Engaging"])
def test_equals_the_reference_on_usr(aspect: str) -> None:
    expected = golden()["sets"][f"usr_persona_{aspect}_named"]["fleiss_kappa"]["fleiss"]
    assert fleiss(usr_matrix(aspect)).kappa.value == pytest.approx(expected, abs=1e-9)
