"""Severity-corrected means: statsmodels' numbers, the textbook's equations, and simulated
panels."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from common.estimates import Undefined
from leaderboard.statistics.ranking.crossed_ratings import (
    CrossedRatings,
    NormalEquations,
    of_groups,
)
from leaderboard.statistics.ranking.rater_severity import correct_severity

CASE = json.loads(
    (Path(__file__).parents[2] / "cases" / "crossed_ratings_reml.json").read_text(encoding="utf-8")
)


def ratings_of(rows, items=None):
    """``rows``: (system, dialogue, rater, score); an item is a system in a dialogue."""
    table = np.array(rows, dtype=float)
    system, dialogue, rater = table[:, :3].astype(int).T
    systems, dialogues, raters = (int(numbers.max()) + 1 for numbers in (system, dialogue, rater))
    item = np.unique(
        system * dialogues + dialogue if items is None else items, return_inverse=True
    )[1]
    return CrossedRatings(table[:, 3], system, dialogue, item, rater, systems, dialogues, raters)


def made(seed, systems=8, dialogues=15, turns=3, raters=10, each=3, severity=0.5, unbalanced=True):
    """(ratings, true means, true severities). Unbalanced: neighbouring systems are judged by the
    same few raters."""
    random = np.random.default_rng(seed)
    strict = random.normal(0, severity, raters)
    means = random.normal(3, 0.4, systems)
    system, dialogue = (np.repeat(grid.ravel(), turns) for grid in np.mgrid[:systems, :dialogues])
    count = len(system)
    quality = (
        means[system] + random.normal(0, 0.3, dialogues)[dialogue] + random.normal(0, 0.6, count)
    )
    first = system * raters // systems if unbalanced else np.zeros(count, dtype=int)
    window = max(raters // 3, each) if unbalanced else raters
    picked = np.argsort(random.random((count, window)), axis=1)[:, :each]
    rater = ((first[:, np.newaxis] + picked) % raters).ravel()
    item = np.repeat(np.arange(count), each)
    scores = quality[item] - strict[rater] + random.normal(0, 0.7, len(item))
    ratings = CrossedRatings(
        scores, system[item], dialogue[item], item, rater, systems, dialogues, raters
    )
    return ratings, means - strict.mean(), strict - strict.mean()


def values(estimates):
    return np.array([one.value for one in estimates])


def test_means_severities_and_variances_are_those_of_statsmodels():
    found = correct_severity(ratings_of(CASE["ratings"]))
    assert values(found.systems) == pytest.approx(CASE["means"], abs=2e-4)
    assert values(found.severity) == pytest.approx(CASE["severity"], abs=2e-4)
    for name, variance in CASE["variance"].items():
        assert found.deviation[name] ** 2 == pytest.approx(variance, abs=2e-4)


def test_the_equations_are_those_of_generalised_least_squares():
    """β = (XᵀV⁻¹X)⁻¹XᵀV⁻¹y, u = G Zᵀ V⁻¹ (y − Xβ), and the restricted likelihood, with V written
    out."""
    ratings = ratings_of(CASE["ratings"])
    item, dialogue, rater = 1.2, 0.7, 0.9
    solved = NormalEquations.of(ratings).solve(np.array([item, dialogue, rater]))
    design, of_dialogue, of_item, of_rater = (
        np.eye(int(numbers.max()) + 1)[numbers]
        for numbers in (ratings.system, ratings.dialogue, ratings.item, ratings.rater)
    )
    covariance = np.eye(len(ratings.scores)) + sum(
        size**2 * part @ part.T
        for size, part in ((item, of_item), (dialogue, of_dialogue), (rater, of_rater))
    )
    inverse = np.linalg.inv(covariance)
    information = design.T @ inverse @ design
    weights = np.linalg.solve(information, design.T @ inverse)
    residual = ratings.scores - design @ (weights @ ratings.scores)
    freedom = len(ratings.scores) - 4
    variance = residual @ inverse @ residual / freedom
    criterion = (
        freedom * (1 + np.log(2 * np.pi * variance))
        + np.linalg.slogdet(covariance)[1]
        + np.linalg.slogdet(information)[1]
    )
    assert solved.effects[:4] == pytest.approx(weights @ ratings.scores)
    assert solved.effects[-5:] == pytest.approx(rater**2 * of_rater.T @ inverse @ residual)
    assert solved.variance == pytest.approx(variance)
    assert solved.criterion == pytest.approx(criterion)
    assert solved.rater_weights(4, 5) == pytest.approx(weights @ of_rater)


def test_leaving_out_a_dialogue_is_a_subtraction():
    ratings = ratings_of(CASE["ratings"])
    relative = np.array([1.0, 0.5, 0.8])
    kept = ratings.only(ratings.dialogue != 3)
    anew = NormalEquations.of(kept).solve(relative)
    less = NormalEquations.of(ratings).without(np.array([3])).solve(relative)
    assert less.effects == pytest.approx(anew.effects)
    assert less.variance == pytest.approx(anew.variance)


def test_where_all_raters_judged_everything_the_raw_means_stay():
    rows = [
        (
            system,
            dialogue,
            rater,
            3 + system / 2 - rater / 4 + ((system * 7 + dialogue * 5 + rater * 3) % 4) / 10,
        )
        for system in range(3)
        for dialogue in range(6)
        for rater in range(3)
    ]
    ratings = ratings_of(rows)
    raw = [ratings.scores[ratings.system == system].mean() for system in range(3)]
    found = correct_severity(ratings)
    assert values(found.systems) == pytest.approx(raw)
    assert values(found.severity).sum() == pytest.approx(0)
    assert found.severity[0].value < -0.2 < 0.2 < found.severity[2].value  # rater 0 gives most


def test_corrected_means_are_nearer_the_truth_and_their_intervals_cover_it():
    """40 panels whose raters judge neighbouring systems: raw means take the raters' luck for
    quality."""
    errors, covered, covered_severity = [], [], []
    for seed in range(40):
        ratings, means, severity = made(seed)
        found = correct_severity(ratings)
        raw = np.array([ratings.scores[ratings.system == number].mean() for number in range(8)])
        errors.append([np.mean((one - means) ** 2) for one in (raw, values(found.systems))])
        covered += [
            one.ci[0] <= truth <= one.ci[1] for one, truth in zip(found.systems, means, strict=True)
        ]
        covered_severity += [
            one.ci[0] <= truth <= one.ci[1]
            for one, truth in zip(found.severity, severity, strict=True)
        ]
    raw_error, corrected_error = np.sqrt(np.mean(errors, axis=0))
    assert corrected_error < 0.75 * raw_error
    assert 0.91 <= np.mean(covered) <= 0.98  # 320 intervals that share dialogues: 95 % give or take
    assert 0.91 <= np.mean(covered_severity) <= 0.98


@pytest.mark.slow
def test_the_interval_of_a_system_of_two_dialogues_among_forty_covers_its_truth():
    """80 panels. With the degrees of freedom of all forty dialogues it would hold the truth in
    eight of ten."""
    covered = []
    for seed in range(80):
        ratings, means, _ = made(seed, systems=4, dialogues=40, turns=1, unbalanced=False)
        few = ratings.only((ratings.system != 0) | (ratings.dialogue < 2))
        low, high = correct_severity(few).systems[0].ci
        covered.append(low <= means[0] <= high)
    assert 0.9 <= np.mean(covered) <= 0.99


def test_raters_who_are_alike_have_no_severity():
    found = correct_severity(made(1, severity=0.0)[0])
    assert found.deviation["rater"] < 0.1
    assert all(abs(one.value) < 0.1 for one in found.severity)


def test_a_rater_with_few_ratings_is_drawn_to_the_mean_rater():
    ratings, _, _ = made(2, unbalanced=False)
    late = ratings.raters
    extra = replace(
        ratings,
        scores=np.append(ratings.scores, ratings.scores[0] - 3),
        system=np.append(ratings.system, ratings.system[0]),
        dialogue=np.append(ratings.dialogue, ratings.dialogue[0]),
        item=np.append(ratings.item, ratings.item[0]),
        rater=np.append(ratings.rater, late),
        raters=late + 1,
    )
    one = correct_severity(extra).severity[late]
    assert 0.1 < one.value < 2
    assert one.ci[1] - one.ci[0] > 0.8


def test_one_rating_an_item_is_enough():
    ratings, means, _ = made(4, each=1, dialogues=20, unbalanced=False)
    found = correct_severity(ratings)
    assert found.deviation["item"] == 0
    assert np.corrcoef(values(found.systems), means)[0, 1] > 0.95


def rows(*places):
    return ratings_of([(*place, score) for place, score in places])


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        (replace(ratings_of(CASE["ratings"]), rater_kind="anonymous"), "raters are anonymous"),
        (replace(ratings_of(CASE["ratings"]), rater_kind="aggregate"), "mean scores, not raters"),
        (
            ratings_of([(s, d, 0, s + d) for s in range(2) for d in range(3)]),
            "at least 2, there are 1",
        ),
        (
            ratings_of([(s, d, r, 3) for s in range(2) for d in range(3) for r in range(2)]),
            "all scores are equal",
        ),
        (
            ratings_of([(r, d, r, r + d) for d in range(4) for r in range(2)]),
            "2 groups that share no rating",
        ),
        (rows(((0, 0, 0), 1), ((0, 0, 1), 2)), "too few ratings"),
    ],
)
def test_undefined_says_why(ratings, reason):
    found = correct_severity(ratings)
    assert isinstance(found, Undefined)
    assert reason in found.reason


def test_without_ratings_there_is_nothing_and_no_error():
    nothing = ratings_of(CASE["ratings"]).only(np.zeros(len(CASE["ratings"]), dtype=bool))
    assert isinstance(correct_severity(nothing), Undefined)


def test_a_system_without_ratings_and_one_of_one_dialogue_say_so():
    ratings = ratings_of(CASE["ratings"])
    kept = ratings.only(((ratings.system != 1) | (ratings.dialogue == 0)) & (ratings.system != 2))
    found = correct_severity(kept)
    assert found.systems[2].reason == "the system has no human ratings"
    assert found.systems[1].value is not None
    assert "at least 2 rated dialogues" in found.systems[1].reason
    assert found.systems[0].ci is not None


def test_a_single_dialogue_gives_means_without_intervals():
    rows = [(s, 0, r, 1 + s + r % 2 + (s * r) % 3) for s in range(4) for r in range(4)]
    found = correct_severity(ratings_of(rows))
    assert all(one.value is not None and one.ci is None for one in found.systems)


def test_many_dialogues_go_in_groups_and_each_in_one():
    ratings, _, _ = made(4, systems=3, dialogues=25, turns=1)
    groups = list(of_groups(ratings, 10))
    assert len(groups) == 10
    assert sorted(np.concatenate(groups).tolist()) == list(range(25))


def test_31_185_ratings_take_seconds_not_gigabytes():
    """ComperDial's shape: 99 systems, 15 dialogues of 7 turns, 3 ratings each; a dense covariance
    would take 7 GiB."""
    ratings, means, _ = made(5, systems=99, turns=7, raters=200)
    assert len(ratings.scores) == 31_185
    found = correct_severity(ratings)
    assert np.corrcoef(values(found.systems), means)[0, 1] > 0.95


def test_a_system_alike_in_a_few_dialogues_has_a_mean_without_an_interval():
    """Two raters who agree, three systems in three dialogues: 5 and 2 throughout, and scores that
    differ."""
    places = [
        (system, dialogue, rater)
        for system in range(3)
        for dialogue in range(3)
        for rater in range(2)
    ]
    system, dialogue, rater = np.array(places).T
    scores = np.where(system == 1, 3.0 + (dialogue + rater) % 3, np.where(system == 0, 5.0, 2.0))
    crossed = CrossedRatings(
        scores=scores, rater=rater, system=system, dialogue=dialogue, item=3 * system + dialogue,
        systems=3, dialogues=3, raters=2,
    )  # fmt: skip
    alike, differing, _ = correct_severity(crossed).systems
    assert alike.value == pytest.approx(5.0)
    assert alike.ci is None
    assert "agree to the digit" in alike.reason
    assert differing.ci is not None
