"""Prediction-powered means: ppi-python's where responses are independent, true to dialogues where
they are not."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from leaderboard.statistics.ranking.prediction_powered import (
    LEAST_DIALOGUES,
    RatedPart,
    interval_around,
    part_of_dialogues,
    powered_mean_of_independent,
    powered_means,
    why_no_gain,
    why_no_interval,
)

CASES = json.loads(
    (Path(__file__).parents[2] / "cases" / "ppi_mean.json").read_text(encoding="utf-8")
)["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_independent_responses_give_what_ppi_python_gives(case):
    found, _ = powered_mean_of_independent(case["human"], case["metric"], case["metric_unrated"])
    assert found.value == pytest.approx(case["mean"], abs=1e-12)
    assert found.ci == pytest.approx(case["ci"], abs=1e-12)


def test_tuning_is_clipped_to_0_and_1():
    tuned = {
        case["name"]: powered_mean_of_independent(
            case["human"], case["metric"], case["metric_unrated"]
        )[1]
        for case in CASES
    }
    assert tuned["goes against people: lambda is clipped at 0"] == 0
    assert tuned["too small a scale: lambda is clipped at 1"] == 1
    assert 0 < tuned["follows people"] < 1


def one_a_dialogue(rated=12, unrated=24, goes_with=0.9, seed=0):
    """One response a dialogue: human scores (NaN from ``rated`` on), metric scores, dialogue
    numbers."""
    random = np.random.default_rng(seed)
    quality = random.standard_normal(rated + unrated)
    metric = goes_with * quality + np.sqrt(1 - goes_with**2) * random.standard_normal(
        rated + unrated
    )
    human = np.where(np.arange(rated + unrated) < rated, 3 + quality, np.nan)
    return human, metric, np.arange(rated + unrated)


def powered(human, metric, dialogue, **words):
    return powered_means(
        part_of_dialogues(human, metric, dialogue, int(dialogue.max()) + 1, **words)
    )


def test_ratings_alone_have_the_t_interval_of_their_dialogues():
    human, metric, dialogue = one_a_dialogue()
    scores = human[:12]
    # one response a dialogue: the variance of the mean is s² / 12, and Student's t has 11 degrees
    # of freedom
    assert powered(human, metric, dialogue).width_alone == pytest.approx(
        2 * stats.t.ppf(0.975, 11) * scores.std(ddof=1) / np.sqrt(12)
    )


def test_responses_of_one_dialogue_count_as_one_where_they_are_all_alike():
    """Each response twice: twice as many ratings, and not a bit more known."""
    human, metric, dialogue = one_a_dialogue()
    once, twice = (
        powered(human, metric, dialogue),
        powered(*(np.repeat(one, 2) for one in (human, metric, dialogue))),
    )
    assert twice.width == pytest.approx(once.width)
    assert twice.powered == pytest.approx(once.powered)


def test_the_unit_of_the_metric_changes_nothing():
    human, metric, dialogue = one_a_dialogue()
    once, other = powered(human, metric, dialogue), powered(human, 1000 + 0.01 * metric, dialogue)
    assert once.tuning > 0.3
    assert other.powered == pytest.approx(once.powered)
    assert other.width == pytest.approx(once.width)


def test_a_metric_whose_low_scores_are_good_helps_as_much_when_it_says_so():
    human, metric, dialogue = one_a_dialogue()
    turned = powered(human, -metric, dialogue, higher_is_better=False)
    assert turned.width == pytest.approx(powered(human, metric, dialogue).width)
    assert powered(human, -metric, dialogue).tuning == 0


def test_the_mean_is_the_ratings_mean_and_a_share_of_the_metrics_difference():
    human, metric, dialogue = one_a_dialogue()
    found = powered(human, metric, dialogue)
    same_spread = human[:12].std() / metric[:12].std()
    expected = human[:12].mean() + found.tuning * same_spread * (
        metric[12:].mean() - metric[:12].mean()
    )
    assert found.powered == pytest.approx(expected)


def test_the_interval_is_never_wider_than_that_of_the_ratings_alone():
    parts = [
        powered(*one_a_dialogue(goes_with=goes_with, seed=seed))
        for seed in range(50)
        for goes_with in (0, 0.5)
    ]
    assert all(found.width <= found.width_alone for found in parts)
    assert min(found.tuning for found in parts) == 0  # where it would be, the ratings stand alone


def simulated(sims, rated, unrated, turns, goes_with, seed, within=0.3, systems=1):
    """Many corpora at once: ordinal scores of 1 to 5, turns of a dialogue alike (intraclass
    correlation 0.3)."""
    random = np.random.default_rng(seed)
    shape = (systems, sims, rated + unrated)

    def effects():
        return np.sqrt(within) * random.standard_normal((*shape, 1)) + np.sqrt(
            1 - within
        ) * random.standard_normal((*shape, turns))

    quality = effects()
    metric = goes_with * quality + np.sqrt(1 - goes_with**2) * effects()
    human = np.clip(np.round(3.6 + 1.2 * quality), 1, 5)
    is_rated = np.broadcast_to(np.arange(rated + unrated) < rated, shape)
    return RatedPart(
        rated=turns * is_rated.astype(float),
        human=human.sum(axis=-1) * is_rated,
        metric=metric.sum(axis=-1) * is_rated,
        unrated=turns * (~is_rated).astype(float),
        metric_unrated=metric.sum(axis=-1) * ~is_rated,
    )


def ordinal_mean():
    """E clip(round(3.6 + 1.2 z), 1, 5) for a standard normal z: steps at 1.5, 2.5, 3.5 and 4.5."""
    return 1 + sum(stats.norm.sf((edge - 3.6) / 1.2) for edge in (1.5, 2.5, 3.5, 4.5))


@pytest.mark.parametrize("goes_with", [0.0, 0.3, 0.6, 0.9])
@pytest.mark.parametrize(
    ("rated", "unrated", "turns", "systems"),
    [
        (10, 50, 1, 1),
        (15, 45, 1, 1),
        (10, 40, 7, 1),
        (30, 30, 1, 1),
        (50, 10, 1, 1),
        (10, 50, 1, 5),
        (10, 5, 7, 5),
    ],
)
def test_intervals_cover_93_to_97_percent(rated, unrated, turns, systems, goes_with):
    found = powered_means(
        simulated(8000 // systems, rated, unrated, turns, goes_with, seed=3, systems=systems)
    )
    covered = np.mean(np.abs(found.powered - ordinal_mean()) <= found.width / 2)
    assert 0.93 <= covered <= 0.97


def test_systems_that_share_the_tuning_gain_more_from_few_dialogues():
    """By the variance over draws, not by what the intervals say: λ of one system's ten dialogues is
    mostly noise."""

    def true_gain(systems):
        found = powered_means(
            simulated(20_000 // systems, 10, 50, 1, 0.45, seed=8, systems=systems)
        )
        return found.alone.var() / found.powered.var()

    assert true_gain(10) > true_gain(1) + 0.04


def test_the_gain_is_what_the_error_shows():
    """Ratings needed without the metric for the same error: the ratio of the variances over many
    systems."""
    found = powered_means(simulated(8000, 60, 240, 1, 0.9, seed=4))
    assert np.median(found.gain) == pytest.approx(found.alone.var() / found.powered.var(), rel=0.08)
    assert np.median(found.gain) > 2


def test_turns_taken_as_independent_would_promise_too_much():
    """Every turn a dialogue of its own: the same ratings, intervals far too narrow."""
    part = simulated(2000, 15, 45, 7, 0.0, seed=5, within=0.8)
    found = powered_means(part)
    truth = ordinal_mean()
    assert np.mean(np.abs(found.powered - truth) <= found.width / 2) > 0.93
    random = np.random.default_rng(5)
    quality = np.sqrt(0.8) * random.standard_normal((2000, 15, 1)) + np.sqrt(
        0.2
    ) * random.standard_normal((2000, 15, 7))
    scores = np.clip(np.round(3.6 + 1.2 * quality), 1, 5).reshape(2000, 105)
    width = 2 * stats.t.ppf(0.975, 104) * scores.std(axis=1, ddof=1) / np.sqrt(105)
    assert np.mean(np.abs(scores.mean(axis=1) - truth) <= width / 2) < 0.7


def test_a_dialogue_may_be_rated_in_part():
    """Half of the turns of every dialogue are rated: the metric on the others helps, coverage
    holds."""
    sims, dialogues = 3000, 20
    random = np.random.default_rng(6)
    quality = np.sqrt(0.5) * random.standard_normal((sims, dialogues, 1)) + np.sqrt(
        0.5
    ) * random.standard_normal((sims, dialogues, 6))
    metric = 0.9 * quality + np.sqrt(0.19) * random.standard_normal(quality.shape)
    given = np.arange(6) < 3
    half = np.full((sims, dialogues), 3.0)
    sums = (half, quality[..., given].sum(axis=-1), metric[..., given].sum(axis=-1), half)
    part = RatedPart(*(one[np.newaxis] for one in (*sums, metric[..., ~given].sum(axis=-1))))
    found = powered_means(part)
    assert 0.93 <= np.mean(np.abs(found.powered) <= found.width / 2) <= 0.97
    assert found.alone.var() / found.powered.var() > 1.03


@pytest.mark.parametrize(
    ("rated", "unrated", "reason"),
    [
        (12, 0, "every response is rated"),
        (LEAST_DIALOGUES - 1, 20, "at least 10 dialogues, there are 9"),
        (12, 1, "at least 2 dialogues, there is 1"),
        (0, 12, "no response has both"),
    ],
)
def test_what_the_metric_cannot_help_says_why(rated, unrated, reason):
    human, metric, dialogue = one_a_dialogue(rated, unrated)
    part = part_of_dialogues(human, metric, dialogue, rated + unrated)
    assert reason in why_no_gain(part)
    assert powered_means(part).tuning == 0


def test_a_constant_metric_and_constant_ratings_are_no_error():
    human, metric, dialogue = one_a_dialogue()
    flat = part_of_dialogues(human, np.ones_like(metric), dialogue, 36)
    assert "same score" in why_no_gain(flat)
    assert powered_means(flat).width == pytest.approx(powered_means(flat).width_alone)
    same = powered_means(
        part_of_dialogues(np.where(np.isnan(human), human, 3.0), metric, dialogue, 36)
    )
    assert same.powered == 3.0
    assert np.isnan(same.width)
    assert np.isnan(same.gain)


def test_a_system_that_nobody_rated_or_that_is_rated_in_one_dialogue_has_no_interval():
    nobody = powered_means(part_of_dialogues([np.nan], [1.0], [0], 1))
    assert (
        interval_around(float(nobody.alone), float(nobody.width)).reason
        == "the system has no human ratings"
    )
    single = part_of_dialogues([2.0, 4.0], [1.0, 2.0], [0, 0], 1)
    found = powered_means(single)
    assert (float(found.powered), np.isnan(found.width)) == (3.0, True)
    assert "at least 2 rated dialogues" in why_no_interval(single)
    assert interval_around(3.0, np.nan, why_no_interval(single)).ci is None


@pytest.mark.parametrize("dialogues", [9, 10])
def test_a_system_rated_alike_in_all_dialogues_has_no_interval(dialogues):
    part = part_of_dialogues(
        [4.0] * dialogues, np.arange(dialogues), np.arange(dialogues), dialogues
    )
    assert np.isnan(powered_means(part).width)
    assert "agree to the digit" in why_no_interval(part)


def test_huge_and_missing_scores_are_no_error():
    human, metric, dialogue = one_a_dialogue()
    metric[3] = np.nan
    part = part_of_dialogues(human, metric * 1e200, dialogue, 36)
    assert part.rated.sum() == 11
    assert np.isfinite(
        powered_means(part_of_dialogues(human, metric * 1e100, dialogue, 36)).powered
    )
