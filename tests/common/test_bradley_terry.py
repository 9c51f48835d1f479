from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from common.bradley_terry import fitted_strengths


def test_three_wins_of_four_are_log_odds_of_three() -> None:
    (found,) = fitted_strengths(np.array([[[0.0, 3.0], [1.0, 0.0]]]))
    assert found == pytest.approx([np.log(3) / 2, -np.log(3) / 2])


def test_the_prior_holds_an_undefeated_system() -> None:
    # 1 win of 1: 1 − σ(2x) = x · prior, whose root is 0.339… for prior 1
    ((strong, weak),) = fitted_strengths(np.array([[[0.0, 1.0], [0.0, 0.0]]]), prior=1.0)
    assert weak == pytest.approx(-strong)
    assert 1 - expit(2 * strong) == pytest.approx(strong)


def test_tables_are_fitted_each_for_itself() -> None:
    three_of_four, one_of_four = [[0.0, 3.0], [1.0, 0.0]], [[0.0, 1.0], [3.0, 0.0]]
    found = fitted_strengths(np.array([three_of_four, one_of_four]), start=[0.5, -0.5])
    assert found[0] == pytest.approx(-found[1])
