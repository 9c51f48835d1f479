"""Many swaps ranked at once give what one after the other gives."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.statistics.significance import permutation
from leaderboard.statistics.significance.permutation import (
    Coefficient,
    Swapped,
    permutation_test,
    swap_tests,
)

RANDOM = np.random.default_rng(2)
SYSTEM, DIALOGUE = np.tile(np.arange(4), 9), np.repeat(np.arange(9), 4)
HUMAN = np.round(RANDOM.normal(size=36) + SYSTEM)
FIRST, SECOND = HUMAN + RANDOM.normal(size=36), np.round(HUMAN + 2 * RANDOM.normal(size=36))


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("swapped", ["systems", "dialogues", "both"])
def test_difference_and_p_are_those_of_the_plain_test(
    monkeypatch: pytest.MonkeyPatch, coefficient: Coefficient, swapped: Swapped
) -> None:
    monkeypatch.setattr(permutation, "SWAPS_AT_ONCE", 36 * 40)  # several parts
    found = swap_tests(HUMAN, FIRST, SECOND, SYSTEM, DIALOGUE, swapped, 99, 7)[coefficient]
    plain = permutation_test(
        HUMAN, FIRST, SECOND, SYSTEM, DIALOGUE, "item", coefficient, "two-sided", 99, 7, swapped
    ).difference
    assert found.value == pytest.approx(plain.value)
    assert found.p == plain.p


def test_a_constant_metric_has_no_test() -> None:
    found = swap_tests(HUMAN, np.ones(36), SECOND, SYSTEM, DIALOGUE, "both", 19, 7)["pearson"]
    assert (found.value, found.p) == (None, None)
    assert found.reason
