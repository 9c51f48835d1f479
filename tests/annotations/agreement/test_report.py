"""The agreement report: its shape, its intervals, and what kinds of raters leave undefined."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.report import AGGREGATE, ANONYMOUS, agreement_report
from common.correlation import jackknife_interval
from tests.annotations.agreement.matrices import (
    _,
    golden,
    grade_matrix,
    matrix_of,
    random_matrix,
    usr_matrix,
)


def report_of(matrix: RatingMatrix, **settings: int) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        json.dumps(agreement_report(matrix, **settings).as_json(), allow_nan=False)
    )
    return document


def numbers_of(document: Any, path: str = "") -> dict[str, Any]:
    """Every ``value`` and ``mean`` of a report, by its place."""
    found: dict[str, Any] = {}
    if isinstance(document, list):
        document = {str(place): entry for place, entry in enumerate(document)}
    for key, entry in document.items():
        if key in ("value", "mean"):
            found[path] = entry
        elif isinstance(entry, dict | list) and key not in ("ci", "raters"):
            found |= numbers_of(entry, f"{path}/{key}")
    return found


def intervals_of(document: Any, path: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    if isinstance(document, list):
        document = {str(place): entry for place, entry in enumerate(document)}
    for key, entry in document.items():
        if key == "ci":
            found[path] = entry
        elif isinstance(entry, dict | list) and key != "raters":
            found |= intervals_of(entry, f"{path}/{key}")
    return found


def test_has_the_keys_of_the_contract() -> None:
    document = report_of(random_matrix(4, 40, seed=1, missing=0.25), resamples=50)
    assert list(document) == [
        "items",
        "raters",
        "ratings",
        "krippendorff_alpha",
        "cohen_kappa",
        "fleiss_kappa",
        "icc",
        "leave_one_out",
    ]
    assert set(document["krippendorff_alpha"]) == {"nominal", "ordinal", "interval", "ratio"}
    assert set(document["cohen_kappa"]) == {"unweighted", "linear", "quadratic"}
    assert set(document["icc"]) == {"icc2_1", "icc2_k"}
    assert set(document["leave_one_out"]) == {"pearson", "spearman", "kendall"}
    assert set(document["cohen_kappa"]["linear"]) == {"mean", "ci", "pairs"}
    assert set(document["cohen_kappa"]["linear"]["pairs"][0]) == {"raters", "items", "value", "ci"}


def test_counts_items_raters_and_ratings_that_exist() -> None:
    document = report_of(matrix_of([1, 2, _, _], [1, _, 3, _], [_, _, _, _]), resamples=0)
    assert (document["items"], document["raters"], document["ratings"]) == (3, 2, 4)


def test_every_number_carries_an_interval_that_holds_it() -> None:
    document = report_of(random_matrix(4, 200, seed=1, missing=0.2), resamples=300)
    numbers, intervals = numbers_of(document), intervals_of(document)
    assert set(numbers) == set(intervals)
    assert len(numbers) == 4 + 3 * (1 + 6) + 1 + 2 + 3 * (1 + 4)
    for place, number in numbers.items():
        low, high = intervals[place]
        assert low < number < high, place


def test_the_intervals_of_a_sparse_crowd_hold_their_values() -> None:
    """40 raters of 300 items, most of a handful. The mean of κ over all pairs is .31 beside an α of
    .52."""
    random = np.random.default_rng(4)
    scores = np.clip(
        np.round(3 + random.normal(0, 2, 300) + random.normal(0, 0.6, (40, 300))), 1, 5
    )
    given = random.random((40, 300)) < 0.06
    given[:2] = random.random((2, 300)) < 0.9
    scores[~given] = np.nan
    document = report_of(
        RatingMatrix(scores, np.arange(300) // 5, tuple(f"r{row:02}" for row in range(40)))
    )
    numbers = numbers_of(document)
    intervals = {place: ends for place, ends in intervals_of(document).items() if ends}
    assert "/cohen_kappa/unweighted" in intervals
    for place, (low, high) in intervals.items():
        assert low <= numbers[place] <= high, place
    alpha, kappa = numbers["/krippendorff_alpha/nominal"], numbers["/cohen_kappa/unweighted"]
    assert kappa == pytest.approx(alpha, abs=0.1)


def test_six_raters_who_agree_perfectly_two_an_item() -> None:
    truth = np.random.default_rng(0).integers(1, 6, 300).astype(float)
    scores = np.full((6, 300), np.nan)
    for item in range(300):
        scores[[item % 6, (item + 1 + item // 6 % 5) % 6], item] = truth[item]
    document = report_of(RatingMatrix(scores, np.arange(300) // 5, tuple("abcdef")), resamples=100)
    assert document["ratings"] == 600
    places = numbers_of(document)
    assert len(places) == 4 + 3 * (1 + 15) + 1 + 2 + 3 * (1 + 6)
    assert all(number == pytest.approx(1.0, abs=1e-12) for number in places.values())


@pytest.mark.parametrize("seed", [20, 22, 23])
def test_an_interval_comes_from_the_reports_without_each_dialogue(seed: int) -> None:
    matrix = random_matrix(4, 60, seed=seed, missing=0.3, per_dialogue=4)
    found = report_of(matrix)
    without = []
    for dialogue in range(15):
        kept = matrix.dialogue_of_item != dialogue
        document = report_of(
            replace(
                matrix,
                scores=matrix.scores[:, kept],
                dialogue_of_item=matrix.dialogue_of_item[kept],
            ),
            resamples=0,
        )
        # Fleiss' items and the k of ICC(2,k) are chosen on the data, not anew where something is
        # left out.
        chosen = document["fleiss_kappa"]["ratings_per_item"]
        assert chosen == found["fleiss_kappa"]["ratings_per_item"], (
            "choose another seed for this test"
        )
        without.append(numbers_of(document))
    intervals = intervals_of(found)
    given = ~np.isnan(matrix.scores)
    read = {  # A dialogue without an item that a coefficient reads cannot be left out of it.
        "fleiss_kappa": lambda _number: (
            given.sum(axis=0) == found["fleiss_kappa"]["ratings_per_item"]
        ),
        "pairs": lambda number: np.logical_and(*list(combinations(given, 2))[int(number)]),
        "per_rater": lambda number: given[int(number)] & (given.sum(axis=0) > 1),
    }
    for place, number in numbers_of(found).items():
        scale = "fisher" if place.startswith("/leave_one_out") else "up to 1"
        items = next(
            (read[part](place[-1]) for part in place.split("/") if part in read),
            given.sum(axis=0) > 0,
        )
        left_out = np.array(
            [without[one][place] for one in np.unique(matrix.dialogue_of_item[items])]
        )
        expected = jackknife_interval(number, left_out, scale)
        assert intervals[place] == pytest.approx(expected, abs=1e-9), place


def test_how_many_draws_are_asked_for_changes_nothing_since_none_are_made() -> None:
    matrix = random_matrix(3, 60, seed=1)
    assert report_of(matrix, resamples=50) == report_of(matrix, resamples=1000)


def test_the_order_of_items_changes_no_number() -> None:
    matrix = random_matrix(4, 80, seed=3, missing=0.2)
    shuffled = np.random.default_rng(0).permutation(80)
    other = replace(
        matrix,
        scores=matrix.scores[:, shuffled],
        dialogue_of_item=matrix.dialogue_of_item[shuffled],
    )
    expected = numbers_of(report_of(matrix, resamples=0))
    assert numbers_of(report_of(other, resamples=0)) == pytest.approx(expected, abs=1e-12)


def test_one_dialogue_has_values_but_no_interval() -> None:
    alpha = report_of(
        replace(random_matrix(3, 30, seed=1), dialogue_of_item=np.zeros(30, dtype=np.int64))
    )["krippendorff_alpha"]["ordinal"]
    assert alpha["value"] is not None
    assert alpha["ci"] is None
    assert "dialogue" in alpha["ci_reason"]


def test_no_interval_where_a_coefficient_hangs_on_one_dialogue() -> None:
    # Only dialogue 0 of 4 has a second level: without it all scores are equal.
    matrix = matrix_of([1, 2, 2, 2, 2], [1, 2, 2, 2, 2], dialogues=[0, 0, 1, 2, 3])
    alpha = report_of(matrix)["krippendorff_alpha"]["nominal"]
    assert (alpha["value"], alpha["ci"]) == (1.0, None)
    assert (
        alpha["ci_reason"] == "the coefficient is undefined where one of the dialogues is left out"
    )


def test_no_resamples_leave_the_intervals_out() -> None:
    assert intervals_of(report_of(random_matrix(3, 30, seed=1), resamples=0)) == {}


def test_means_have_no_agreement() -> None:
    document = report_of(matrix_of([1.5, 2.5, 3.0], [2.0, 3.5, 1.0], rater_kind="aggregate"))
    assert document["raters"] == 0
    assert document["krippendorff_alpha"]["ordinal"] == {"value": None, "reason": AGGREGATE}
    assert document["fleiss_kappa"] == {"value": None, "reason": AGGREGATE}
    assert document["icc"]["icc2_1"] == {"value": None, "reason": AGGREGATE}
    assert set(numbers_of(document).values()) == {None}


def test_anonymous_raters_have_alpha_and_fleiss_only() -> None:
    document = report_of(
        replace(random_matrix(4, 60, seed=1), rater_kind="anonymous"), resamples=50
    )
    defined = {place for place, number in numbers_of(document).items() if number is not None}
    assert defined == {
        "/fleiss_kappa",
        *(f"/krippendorff_alpha/{name}" for name in ("nominal", "ordinal", "interval", "ratio")),
    }
    assert document["cohen_kappa"]["linear"] == {
        "mean": None,
        "value": None,
        "reason": ANONYMOUS,
        "pairs": [],
    }
    assert document["leave_one_out"]["pearson"]["reason"] == ANONYMOUS


@pytest.mark.parametrize(
    "matrix",
    [
        RatingMatrix(np.empty((0, 0)), np.empty(0, dtype=np.int64), ()),
        matrix_of([_, _], [_, _]),
        matrix_of([3, 4, 5]),
        matrix_of([1, 2, _, _], [_, _, 3, 4]),
        matrix_of([4, 4, 4], [4, 4, 4], [4, 4, 4]),
    ],
    ids=["nothing", "no ratings", "one rater", "no overlap", "constant"],
)
def test_nothing_is_made_up(matrix: RatingMatrix) -> None:
    document = report_of(matrix, resamples=20)
    assert set(numbers_of(document).values()) == {None}
    assert document["fleiss_kappa"]["reason"]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (RatingMatrix(np.array([[1.0, np.inf]]), np.array([0, 1]), ("a",)), "finite"),
        (RatingMatrix(np.array([[1.0, 2.0]]), np.array([0]), ("a",)), "dialogue_of_item has 1"),
        (RatingMatrix(np.array([[1.0, 2.0]]), np.array([0, 1]), ("a", "b")), "2 names"),
        (RatingMatrix(np.array([1.0, 2.0]), np.array([0, 1]), ("a",)), "raters × items"),
    ],
)
def test_a_matrix_that_does_not_fit_together_is_refused(matrix: RatingMatrix, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agreement_report(matrix)


def test_dialogues_may_carry_any_numbers_in_any_order() -> None:
    matrix = random_matrix(3, 40, seed=2, per_dialogue=4)
    renamed = replace(matrix, dialogue_of_item=matrix.dialogue_of_item * 1000 + 7)
    assert report_of(renamed, resamples=30) == report_of(matrix, resamples=30)


def test_grade_positions_are_not_persons() -> None:
    reference = golden()["sets"]["grade_convai2"]
    document = report_of(grade_matrix("convai2"), resamples=100)
    assert (document["items"], document["ratings"]) == (600, reference["n_ratings"])
    assert document["icc"]["icc2_k"] == {"value": None, "reason": ANONYMOUS}
    low, high = document["krippendorff_alpha"]["ordinal"]["ci"]
    assert low < reference["krippendorff_alpha"]["ordinal"] < high


def test_usr_counts() -> None:
    document = report_of(usr_matrix("Overall"), resamples=100)
    assert (document["items"], document["raters"], document["ratings"]) == (300, 4, 900)
    assert document["fleiss_kappa"]["items"] == 300
    assert document["icc"]["icc2_k"]["k"] == 3


def test_where_nobody_rated_every_coefficient_says_so() -> None:
    nothing = RatingMatrix(np.empty((0, 4)), np.zeros(4, dtype=np.int64), ())
    document = agreement_report(nothing).as_json()
    assert document["ratings"] == 0
    assert document["krippendorff_alpha"]["ordinal"] == {"value": None, "reason": "nobody rated"}
    assert document["fleiss_kappa"] == {"value": None, "reason": "nobody rated"}
