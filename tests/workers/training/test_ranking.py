from __future__ import annotations

import numpy as np
import pytest

from workers.training.core.selection import ranking_figures, ranks

SCORES = np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [5.0, 4.0, 4.5]])
"""The answers, in the first column, are 1st, 2nd, 3rd and 1st."""


def test_ranks_by_hand() -> None:
    assert ranks(SCORES).tolist() == [1, 2, 3, 1]


def test_figures_by_hand() -> None:
    """Two of four come first; (1 + 1/2 + 1/3 + 1) / 4 = 17 / 24."""
    assert ranking_figures(SCORES) == {"R@1": 0.5, "MRR": pytest.approx(17 / 24)}


def test_saying_the_same_of_all_finds_no_answer() -> None:
    assert ranking_figures(np.zeros((3, 4))) == {"R@1": 0.0, "MRR": 0.25}
