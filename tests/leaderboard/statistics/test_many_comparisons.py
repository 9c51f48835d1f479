import json
from pathlib import Path

import numpy as np
import pytest

from leaderboard.statistics.significance.multiple_comparisons import benjamini_hochberg, holm

CASE = json.loads((Path(__file__).parents[2] / "cases" / "significance.json").read_text())[
    "many_comparisons"
]


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_adjusted_p_are_those_of_statsmodels(adjust):
    np.testing.assert_allclose(adjust(CASE["p"]), CASE[adjust.__name__], rtol=1e-12)


def test_holm_by_hand():
    # Three: 3 · 0.01, 2 · 0.02, 1 · 0.04; the last may not be below the one before it.
    assert holm([0.04, 0.01, 0.02]).tolist() == pytest.approx([0.04, 0.03, 0.04])
    # 2 · 0.03 = 0.06 and 1 · 0.031, which the step before holds at 0.06.
    assert holm([0.03, 0.031]).tolist() == pytest.approx([0.06, 0.06])


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_a_comparison_that_does_not_exist_is_not_counted(adjust):
    adjusted = adjust([0.01, np.nan, 0.02])
    assert np.isnan(adjusted[1])
    assert adjusted[[0, 2]].tolist() == adjust([0.01, 0.02]).tolist()


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@pytest.mark.parametrize("p", [[], [np.nan]])
def test_nothing_to_compare(adjust, p):
    assert np.isnan(adjust(p)).all()
    assert len(adjust(p)) == len(p)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_what_is_no_p_is_refused(adjust):
    with pytest.raises(ValueError, match="between 0 and 1"):
        adjust([0.5, 1.5])


def symmetric(pairs, metrics):
    p = np.full((metrics, metrics), np.nan)
    for (i, j), value in pairs.items():
        p[i, j] = p[j, i] = value
    return p
