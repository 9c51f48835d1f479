"""Krippendorff's α of sets under the MASI distance: worked arithmetic and NLTK."""

from __future__ import annotations

import numpy as np
import pytest
from nltk.metrics.agreement import AnnotationTask

from annotations.agreement.intervals import Jackknife
from annotations.agreement.sets import masi_alpha, masi_distance
from annotations.agreement.tabulation import tabulate
from tests.annotations.agreement.matrices import matrix_of

SETS = (frozenset("a"), frozenset("ab"), frozenset("bc"), frozenset[str]())


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("ab", "ab", 0.0),
        ("", "", 0.0),
        ("a", "ab", 1 - 1 / 2 * 2 / 3),
        ("ab", "bc", 1 - 1 / 3 * 1 / 3),
        ("a", "b", 1.0),
        ("a", "", 1.0),
    ],
)
def test_distance(one: str, other: str, distance: float) -> None:
    assert masi_distance(frozenset(one), frozenset(other)) == pytest.approx(distance, abs=1e-12)
    assert masi_distance(frozenset(other), frozenset(one)) == pytest.approx(distance, abs=1e-12)


def test_equals_nltk_with_the_same_distance() -> None:
    random = np.random.default_rng(6)
    codes = random.integers(0, len(SETS), (3, 40))
    data = [(rater, item, SETS[codes[rater, item]]) for rater in range(3) for item in range(40)]
    expected = AnnotationTask(data, distance=masi_distance).alpha()
    table = tabulate(matrix_of(*codes.astype(float).tolist()))
    found = masi_alpha(table, SETS, Jackknife.over(table.dialogues))
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.ci is not None


def test_one_set_alone_is_undefined() -> None:
    table = tabulate(matrix_of([1, 1], [1, 1]))
    found = masi_alpha(table, SETS, Jackknife.none(2))
    assert found.reason == "all raters chose the same for all items with two or more ratings"
