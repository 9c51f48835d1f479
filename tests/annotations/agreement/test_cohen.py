"""Cohen's κ: worked arithmetic, scikit-learn, real pairs, and where it is undefined."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from annotations.agreement.cohen import WEIGHTINGS, PairwiseKappa, cohen_kappas
from annotations.agreement.intervals import Jackknife
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.tabulation import tabulate
from tests.annotations.agreement.matrices import _, golden, matrix_of, random_matrix, usr_matrix

# Margins 2, 1, 1 and 1, 2, 1 on four items.
FIRST, SECOND = [1, 1, 2, 3], [1, 2, 2, 3]


def kappas(matrix: RatingMatrix) -> dict[str, PairwiseKappa]:
    table = tabulate(matrix)
    return dict(cohen_kappas(table, Jackknife.none(table.dialogues)))


def test_unweighted_is_agreement_beyond_chance() -> None:
    # p_o = 3/4, p_e = (2·1 + 1·2 + 1·1) / 16 = 5/16: (12 − 5) / (16 − 5)
    assert kappas(matrix_of(FIRST, SECOND))["unweighted"].mean.value == pytest.approx(
        7 / 11, abs=1e-12
    )


def test_linear_weighs_by_distance() -> None:
    # observed 1; expected (2·2·1 + 2·1·2 + 1·1·1 + 1·1·1 + 1·1·2 + 1·2·1) / 4 = 14/4
    assert kappas(matrix_of(FIRST, SECOND))["linear"].mean.value == pytest.approx(
        1 - 4 / 14, abs=1e-12
    )


def test_quadratic_weighs_by_squared_distance() -> None:
    # observed 1; expected (2·2·1 + 2·1·4 + 1·1·1 + 1·1·1 + 1·1·4 + 1·2·1) / 4 = 20/4
    assert kappas(matrix_of(FIRST, SECOND))["quadratic"].mean.value == pytest.approx(
        1 - 4 / 20, abs=1e-12
    )


def test_a_level_that_nobody_used_keeps_its_place_on_the_scale() -> None:
    # Nobody gave 2 or 4: |1 − 5| must weigh twice |1 − 3|. Observed 2; expected Σ |a − b| n_a n_b /
    # 4, margins (1: 2, 3: 1, 5: 1) and (1: 1, 3: 2, 5: 1): (2·2·2 + 2·1·4 + 1·1·2 + 1·1·2 + 1·1·4 +
    # 1·2·2) / 4 = 28/4
    assert kappas(matrix_of([1, 1, 3, 5], [1, 3, 3, 5]))["linear"].mean.value == pytest.approx(
        1 - 2 / 7, abs=1e-12
    )


@pytest.mark.parametrize(
    ("weighting", "weights"),
    [("unweighted", None), ("linear", "linear"), ("quadratic", "quadratic")],
)
def test_every_pair_equals_scikit_learn_on_the_common_items(
    weighting: str, weights: str | None
) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    matrix = random_matrix(4, 150, seed=8, missing=0.3)
    found = kappas(matrix)[weighting]
    for pair, (first, second) in zip(found.pairs, combinations(matrix.scores, 2), strict=True):
        common = ~np.isnan(first) & ~np.isnan(second)
        expected = metrics.cohen_kappa_score(
            first[common], second[common], labels=[1, 2, 3, 4, 5], weights=weights
        )
        assert pair.items == common.sum()
        assert pair.kappa.value == pytest.approx(expected, abs=1e-9)


def test_pairs_carry_the_raters_names() -> None:
    assert [pair.raters for pair in kappas(matrix_of([1, 2], [1, 2], [2, 1]))["linear"].pairs] == [
        ("r1", "r2"),
        ("r1", "r3"),
        ("r2", "r3"),
    ]


def test_mean_leaves_out_pairs_without_a_common_item() -> None:
    found = kappas(matrix_of([*FIRST, _, _], [*SECOND, _, _], [_, _, _, _, 1, 2]))["unweighted"]
    assert [pair.kappa.reason for pair in found.pairs[1:]] == [
        "the two raters judged no item in common"
    ] * 2
    assert found.mean.value == pytest.approx(7 / 11, abs=1e-12)


def test_pairs_with_few_common_items_do_not_drown_the_mean_of_a_crowd() -> None:
    """40 raters, of whom two judged nearly everything and the rest a handful: their pairs have one
    item or two."""
    random = np.random.default_rng(4)
    quality = random.normal(0, 2, 300)
    scores = np.clip(np.round(3 + quality + random.normal(0, 0.6, (40, 300))), 1, 5)
    given = random.random((40, 300)) < 0.06
    given[:2] = random.random((2, 300)) < 0.9
    scores[~given] = np.nan
    found = kappas(
        RatingMatrix(scores, np.arange(300) // 5, tuple(f"r{row:02}" for row in range(40)))
    )["unweighted"]
    every = np.mean([pair.kappa.value for pair in found.pairs if pair.kappa.value is not None])
    enough = [pair.kappa.value for pair in found.pairs if pair.items >= 10]
    assert len(enough) < 80 < len(found.pairs)
    assert found.mean.value == pytest.approx(np.mean(enough), abs=1e-12)
    of_the_whole = kappas(
        RatingMatrix(np.where(given[:2], scores[:2], np.nan), np.arange(300) // 5, ("a", "b"))
    )
    assert every < found.mean.value - 0.1
    assert found.mean.value == pytest.approx(of_the_whole["unweighted"].mean.value, abs=0.08)


def test_a_crowd_without_two_raters_who_share_enough_has_no_mean_of_pairs() -> None:
    scores = random_matrix(30, 100, seed=3).scores
    for item in range(100):
        scores[np.random.default_rng(item).permutation(30)[3:], item] = np.nan
    found = kappas(RatingMatrix(scores, np.arange(100), tuple(f"r{row:02}" for row in range(30))))[
        "quadratic"
    ]
    assert found.mean.value is None
    assert "10 items in common or more, and none has more than" in found.mean.reason


def test_two_raters_who_only_ever_gave_one_same_score_are_undefined() -> None:
    found = kappas(matrix_of([2, 2, 2, 1], [2, 2, 2, _]))["unweighted"]
    assert found.mean.value is None
    assert "one and the same score" in found.mean.reason


def test_a_rater_who_never_varies_agrees_by_chance_only() -> None:
    # p_o = p_e = 1/2
    assert kappas(matrix_of([1, 1], [1, 2]))["unweighted"].mean.value == pytest.approx(
        0.0, abs=1e-12
    )


def test_one_rater_is_undefined() -> None:
    found = kappas(matrix_of([1, 2, 3]))["linear"]
    assert (found.mean.reason, found.pairs) == ("fewer than two raters", ())


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("aspect", ["Overall", "Engaging"])
def test_equals_the_reference_on_usr(aspect: str, weighting: str) -> None:
    reference = golden()["sets"][f"usr_persona_{aspect}_named"]
    found = kappas(usr_matrix(aspect))[weighting]
    assert found.mean.value == pytest.approx(reference["cohen_pairwise_mean"][weighting], abs=1e-9)
    for pair, expected in zip(found.pairs, reference["cohen_pairs"], strict=True):
        assert (pair.items, pair.kappa.value) == (
            expected["n"],
            pytest.approx(expected[weighting], abs=1e-9),
        )
