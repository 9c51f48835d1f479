"""Leave-one-out correlation of raters: worked arithmetic, partial overlap, real raters, and where
it is undefined."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from annotations.agreement.intervals import Jackknife
from annotations.agreement.leave_one_out import LeaveOneOut, leave_one_out
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.tabulation import tabulate
from tests.annotations.agreement.matrices import _, golden, matrix_of, random_matrix, usr_matrix


def loo(matrix: RatingMatrix) -> dict[str, LeaveOneOut]:
    table = tabulate(matrix)
    return leave_one_out(table, Jackknife.none(table.dialogues))


def test_two_raters_are_correlated_with_each_other() -> None:
    # Deviations −1.5 −.5 .5 1.5 and −1.5 .5 −.5 1.5: r = ρ = 4/5; five pairs in the same order and
    # one not: τ = 4/6
    found = loo(matrix_of([1, 2, 3, 4], [1, 3, 2, 4]))
    assert found["pearson"].mean.value == pytest.approx(0.8, abs=1e-12)
    assert found["spearman"].mean.value == pytest.approx(0.8, abs=1e-12)
    assert found["kendall"].mean.value == pytest.approx(4 / 6, abs=1e-12)


def test_each_rater_meets_the_mean_of_those_others_who_judged_the_item() -> None:
    matrix = random_matrix(4, 60, seed=6, missing=0.35)
    found = loo(matrix)["kendall"]
    for row, one in enumerate(found.raters):
        others = np.delete(matrix.scores, row, axis=0)
        common = ~np.isnan(matrix.scores[row]) & ~np.isnan(others).all(axis=0)
        means = [np.mean(column[~np.isnan(column)]) for column in others[:, common].T]
        assert one.items == common.sum()
        expected = stats.kendalltau(matrix.scores[row, common], means).statistic
        assert one.correlation.value == pytest.approx(expected, abs=1e-9)


def test_equal_means_of_fractional_scores_stay_tied() -> None:
    # 0.1 + 0.2 and 0.3 + 0.0 differ in the last bit; their means are the same score.
    first, second, third = [1.0, 2.0, 2.0, 3.0], [0.1, 0.3, 0.1, 0.9], [0.2, 0.0, 0.2, 0.9]
    found = loo(matrix_of(first, second, third))["kendall"].raters[0].correlation.value
    assert found == pytest.approx(
        stats.kendalltau(first, [0.15, 0.15, 0.15, 0.9]).statistic, abs=1e-12
    )


def test_a_rater_who_never_varies_is_undefined_and_left_out_of_the_mean() -> None:
    found = loo(matrix_of([1, 2, 3, 4], [1, 2, 3, 4], [3, 3, 3, 3]))["pearson"]
    assert found.raters[2].correlation.reason == "all scores of this rater are equal"
    assert found.mean.value == pytest.approx(1.0, abs=1e-12)


def test_fewer_than_three_common_items_are_undefined() -> None:
    found = loo(matrix_of([1, 2, _], [1, 2, 3]))["pearson"]
    assert found.mean.value is None
    assert "fewer than 3 items" in found.mean.reason


def test_a_rater_of_three_items_does_not_count_like_one_of_sixty() -> None:
    matrix = random_matrix(4, 60, seed=6)
    matrix.scores[3, 3:] = np.nan
    found = loo(matrix)["pearson"]
    assert found.raters[3].correlation.value is not None
    assert found.mean.value == pytest.approx(
        np.mean([one.correlation.value for one in found.raters[:3]]), abs=1e-12
    )


def test_one_rater_is_undefined() -> None:
    assert loo(matrix_of([1, 2, 3]))["spearman"].mean.reason == "fewer than two raters"


@pytest.mark.parametrize(
    ("name", "reference"),
    [("pearson", "pearson"), ("spearman", "spearman"), ("kendall", "kendall_b")],
)
@pytest.mark.parametrize("aspect", ["Overall", "Engaging"])
def test_equals_the_reference_on_usr(aspect: str, name: str, reference: str) -> None:
    expected = golden()["sets"][f"usr_persona_{aspect}_named"]["leave_one_out_by_row"][reference]
    found = loo(usr_matrix(aspect))[name]
    assert found.mean.value == pytest.approx(expected["mean"], abs=1e-9)
    assert [one.correlation.value for one in found.raters] == pytest.approx(
        expected["per_row"], abs=1e-9
    )


def test_intervals_do_not_depend_on_how_replicates_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = tabulate(random_matrix(4, 80, seed=7, missing=0.3))
    jackknife = Jackknife.over(table.dialogues)
    by_table = leave_one_out(table, jackknife)
    monkeypatch.setattr("annotations.agreement.cross_table.FEW_CELLS", 0)
    by_items = leave_one_out(table, jackknife)
    for name, one in by_table.items():
        assert one.mean.ci == pytest.approx(by_items[name].mean.ci, abs=1e-9)
