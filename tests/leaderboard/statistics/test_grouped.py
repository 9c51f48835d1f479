"""Averages of correlations within dialogues and within systems, against loops over scipy."""

import numpy as np
import pytest
from scipy import stats

from common.correlation import COEFFICIENTS
from leaderboard.statistics.correlation.grouped import within_dialogues, within_systems
from tests.common.correlation.resampled import SCIPY
from tests.leaderboard.statistics.campaign import campaign


def scipy_mean(human, metric, group, name):
    found = []
    for number in np.unique(group):
        own = (group == number) & np.isfinite(human) & np.isfinite(metric)
        if own.sum() >= 3 and len(set(human[own])) > 1 and len(set(metric[own])) > 1:
            found.append(SCIPY[name](human[own], metric[own])[0])
    return np.mean(found), len(found)


@pytest.fixture
def holed():
    """Scores with holes: groups of many sizes."""
    c = campaign(systems=6, dialogues=9, turns=3, metrics=2)
    human, metrics = c.human.copy(), c.metrics.copy()
    random = np.random.default_rng(4)
    human[random.random(len(human)) < 0.1] = np.nan
    metrics[1, random.random(len(human)) < 0.2] = np.nan
    return c, human, metrics


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_within_dialogues_is_the_mean_of_scipy_s_over_dialogues(holed, name):
    c, human, metrics = holed
    for metric, found in zip(metrics, within_dialogues(human, metrics, c.dialogue), strict=True):
        mean, groups = scipy_mean(human, metric, c.dialogue, name)
        assert found.estimates[name].value == pytest.approx(mean, abs=1e-12)
        assert found.defined[name] == groups


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_within_systems_is_the_mean_of_scipy_s_over_systems(holed, name):
    c, human, metrics = holed
    for metric, found in zip(
        metrics, within_systems(human, metrics, c.dialogue, c.system), strict=True
    ):
        mean, groups = scipy_mean(human, metric, c.system, name)
        assert found.estimates[name].value == pytest.approx(mean, abs=1e-12)
        assert (found.defined[name], found.groups) == (groups, 6)


def test_undefined_groups_are_left_out_of_the_mean_and_counted():
    # Dialogue 0: r of (1, 2, 3) with (1, 2, 3) = 1. Dialogue 1: people say 2 throughout. Dialogue
    # 2: two pairs only.
    human = np.array([1, 2, 3, 2, 2, 2, 1, 2], dtype=float)
    metric = np.array([1, 2, 3, 1, 2, 3, 2, 1], dtype=float)
    (found,) = within_dialogues(human, metric, [0, 0, 0, 1, 1, 1, 2, 2])
    assert found.estimates["pearson"].value == pytest.approx(1.0)
    assert (found.groups, found.defined["pearson"]) == (3, 1)


def test_the_mean_of_no_group_is_undefined():
    (found,) = within_dialogues([1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 2.0, 1.0], [0, 0, 1, 1])
    assert found.estimates["kendall"].value is None
    assert "undefined within each of 2" in found.estimates["kendall"].reason
    (empty,) = within_systems([np.nan, 1.0], [1.0, np.nan], [0, 1], [0, 0])
    assert empty.estimates["pearson"].reason == "no response has both scores"


def test_the_interval_within_dialogues_is_student_s_t_of_their_coefficients():
    c = campaign(systems=6, dialogues=9, turns=3, metrics=1)
    (found,) = within_dialogues(c.human, c.metrics, c.dialogue)
    each = [
        SCIPY["pearson"](c.human[c.dialogue == number], c.metrics[0, c.dialogue == number])[0]
        for number in range(9)
    ]
    reach = stats.t.ppf(0.975, 8) * np.std(each, ddof=1) / 3
    assert found.estimates["pearson"].ci == pytest.approx(
        (np.mean(each) - reach, np.mean(each) + reach)
    )


def test_inputs_of_one_dialogue_are_left_out_together():
    c = campaign(systems=6, dialogues=9, turns=3, metrics=1)
    turn = c.dialogue * 3 + np.tile(np.arange(3), 54)
    (by_input,) = within_dialogues(c.human, c.metrics, c.dialogue, turn)
    mean, _ = scipy_mean(c.human, c.metrics[0], turn, "pearson")
    assert (by_input.estimates["pearson"].value, by_input.groups) == (pytest.approx(mean), 27)
    left_out = [
        scipy_mean(
            c.human[c.dialogue != d],
            c.metrics[0, c.dialogue != d],
            turn[c.dialogue != d],
            "pearson",
        )[0]
        for d in range(9)
    ]
    spread = np.sqrt(8 / 9 * np.square(np.array(left_out) - np.mean(left_out)).sum())
    low, high = by_input.estimates["pearson"].ci
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 8) * spread)


def test_the_interval_within_systems_leaves_a_dialogue_out_of_all_of_them():
    c = campaign(systems=4, dialogues=6, turns=3, metrics=1)
    (found,) = within_systems(c.human, c.metrics, c.dialogue, c.system)
    left_out = []
    for d in range(6):
        kept = c.dialogue != d
        left_out.append(scipy_mean(c.human[kept], c.metrics[0, kept], c.system[kept], "kendall")[0])
    spread = np.sqrt(5 / 6 * np.square(np.array(left_out) - np.mean(left_out)).sum())
    low, high = found.estimates["kendall"].ci
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 5) * spread)


def test_of_many_dialogues_sixty_groups_are_left_out_of_all_systems():
    c = campaign(systems=3, dialogues=150, turns=1, metrics=1)
    (found,) = within_systems(c.human, c.metrics, c.dialogue, c.system)
    left_out = []
    for group in range(60):
        kept = c.dialogue % 60 != group
        left_out.append(scipy_mean(c.human[kept], c.metrics[0, kept], c.system[kept], "pearson")[0])
    spread = np.sqrt(59 / 60 * np.square(np.array(left_out) - np.mean(left_out)).sum())
    low, high = found.estimates["pearson"].ci
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 59) * spread)
