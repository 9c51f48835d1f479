import numpy as np
import pytest

from leaderboard.statistics.correlation.rowwise import compiled_rows, correlate_rows, fixed_side
from tests.common.correlation.resampled import SCIPY


@pytest.mark.parametrize("systems", [3, 20, 128, 129, 300])
@pytest.mark.parametrize("ties", [False, True])
def test_every_row_equals_scipy(systems, ties):
    random = np.random.default_rng(systems)
    human, metric = random.normal(size=(2, 6, systems))
    if ties:
        human, metric = np.round(human), np.round(metric)
        human[:, :2], metric[:, :2] = [0, 9], [9, 0]
    found = correlate_rows(fixed_side(human), compiled_rows(metric))
    for name, reference in SCIPY.items():
        expected = [reference(one, other)[0] for one, other in zip(human, metric, strict=True)]
        np.testing.assert_allclose(found[name], expected, atol=1e-9, err_msg=name)


def test_concordance_of_300_systems_in_one_order_does_not_overflow_small_integers():
    ascending = np.arange(300.0)[None, :]
    found = correlate_rows(fixed_side(ascending), compiled_rows(ascending))
    assert found["kendall"][0] == pytest.approx(1.0)


def test_one_fixed_row_meets_every_row_of_the_other_side():
    random = np.random.default_rng(0)
    human, metric = random.normal(size=(5, 12)), random.normal(size=12)
    found = correlate_rows(fixed_side(human), compiled_rows(metric[None, :]))
    for name, reference in SCIPY.items():
        np.testing.assert_allclose(
            found[name], [reference(row, metric)[0] for row in human], atol=1e-12
        )


@pytest.mark.parametrize("spoilt", [[2.0, 2.0, 2.0], [1.0, np.nan, 3.0]])
def test_constant_and_incomplete_rows_are_undefined_on_either_side(spoilt):
    good = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    with_a_bad_row = np.array([[1.0, 2.0, 3.0], spoilt])
    for human, metric in [(good, with_a_bad_row), (with_a_bad_row, good)]:
        for name, values in correlate_rows(fixed_side(human), compiled_rows(metric)).items():
            assert values[0] == pytest.approx(1.0), name
            assert np.isnan(values[1]), name
