import itertools

import numpy as np
import pytest

from leaderboard.statistics.significance import permutation
from leaderboard.statistics.significance.permutation import permutation_test
from tests.common.correlation.resampled import SCIPY
from tests.leaderboard.statistics.campaign import campaign


def compared(c, first, second, **settings):
    return permutation_test(c.human, first, second, c.system, c.dialogue, **settings)


def means(scores, system):
    return np.round([scores[system == number].mean() for number in np.unique(system)], 12)


def standardised(scores, system=None):
    compared = scores if system is None else means(scores, system)
    return (scores - np.mean(compared)) / np.std(compared)


def all_swaps(c, first, second, level, name):
    """The difference under every one of the 2^systems · 2^dialogues swaps, written out and given to
    scipy."""
    of_system = c.system if level == "system" else None
    one, other = standardised(first, of_system), standardised(second, of_system)
    differences = []
    for systems in itertools.product([False, True], repeat=c.systems):
        for dialogues in itertools.product([False, True], repeat=c.dialogues):
            swapped = np.array(systems)[c.system] ^ np.array(dialogues)[c.dialogue]
            pair = np.where(swapped, other, one), np.where(swapped, one, other)
            if level == "system":
                pair, human = [means(scores, c.system) for scores in pair], means(c.human, c.system)
            else:
                human = c.human
            differences.append(SCIPY[name](human, pair[0])[0] - SCIPY[name](human, pair[1])[0])
    return np.array(differences)


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("level", ["system", "item"])
def test_p_approaches_that_of_all_swaps(level, name):
    c = campaign(systems=4, dialogues=3, turns=3, metrics=2)
    first = c.human + c.metrics[0] / 4
    differences = all_swaps(c, first, c.metrics[1], level, name)
    found = compared(c, first, c.metrics[1], level=level, coefficient=name, permutations=1500)
    # 128 swaps in all, the first of them none at all; sd of a share over 1,500 draws is at most
    # 0.013.
    assert found.difference.value == pytest.approx(differences[0], abs=1e-9)
    exact = (np.abs(differences) >= abs(differences[0]) - 1e-9).mean()
    assert found.difference.p == pytest.approx(exact, abs=0.05)


def test_every_swapped_difference_is_one_of_all_swaps(monkeypatch):
    c = campaign(systems=4, dialogues=3, turns=3, metrics=2)
    seen = []
    tested_by = permutation._tested
    monkeypatch.setattr(
        permutation,
        "_tested",
        lambda observed, swapped, how: seen.append(swapped) or tested_by(observed, swapped, how),
    )
    compared(c, c.metrics[0], c.metrics[1], permutations=2000)
    possible = np.unique(np.round(all_swaps(c, c.metrics[0], c.metrics[1], "system", "pearson"), 8))
    assert set(np.unique(np.round(seen[0], 8))) == set(possible)


def test_correlations_and_difference_are_those_of_the_metrics():
    c = campaign()
    found = compared(c, c.metrics[0], c.metrics[1])
    expected = [
        SCIPY["pearson"](means(c.human, c.system), means(scores, c.system))[0]
        for scores in c.metrics[:2]
    ]
    assert found.first.value == pytest.approx(expected[0])
    assert found.second.value == pytest.approx(expected[1])
    assert found.difference.value == pytest.approx(expected[0] - expected[1])


def test_a_metric_does_not_differ_from_itself_on_another_scale():
    c = campaign()
    found = compared(c, c.metrics[0], 100 * c.metrics[0] + 7)
    assert found.difference.value == pytest.approx(0.0, abs=1e-9)
    assert found.difference.p == pytest.approx(1.0)


def test_a_good_metric_beats_noise_and_noise_does_not_beat_it():
    c = campaign(systems=12, dialogues=15)
    noise = np.random.default_rng(5).normal(size=len(c.human))
    better = compared(
        c, c.human + noise / 2, noise, alternative="greater", level="item", permutations=300
    )
    worse = compared(
        c, noise, c.human + noise / 2, alternative="greater", level="item", permutations=300
    )
    assert better.difference.p < 0.02
    assert worse.difference.p > 0.9


def test_p_is_never_zero():
    c = campaign(systems=12, dialogues=15)
    noise = np.random.default_rng(5).normal(size=len(c.human))
    found = compared(c, c.human + 0.01 * noise, noise, level="item", permutations=99)
    assert found.difference.p == pytest.approx(1 / 100)


def test_two_noisy_metrics_of_one_quality_are_told_apart_no_more_often_than_the_level_allows():
    # At the 10 % level, 60 data sets: 15 or more rejections have a chance below 0.1 % if the test
    # keeps its level.
    rejected = 0
    for seed in range(60):
        c = campaign(systems=10, dialogues=10, turns=2, metrics=3, seed=seed)
        rejected += (
            compared(c, c.metrics[0], c.metrics[1], permutations=199, seed=seed).difference.p
            <= 0.10
        )
    assert rejected < 15


def test_responses_that_one_metric_has_not_scored_are_dropped_for_both():
    c = campaign()
    holed = c.metrics[0].copy()
    holed[:30] = np.nan
    found = compared(c, holed, c.metrics[1], level="item", permutations=10)
    assert found.second.value == pytest.approx(SCIPY["pearson"](c.human[30:], c.metrics[1][30:])[0])


def test_the_seed_decides_p():
    c = campaign()
    same = [
        compared(c, c.metrics[0], c.metrics[1], permutations=200, seed=seed) for seed in (1, 1, 2)
    ]
    assert same[0] == same[1]
    assert same[0].difference.p != same[2].difference.p


def test_a_constant_metric_cannot_be_compared():
    c = campaign()
    found = compared(c, c.metrics[0], np.ones(len(c.human)))
    assert found.difference.value is None
    assert found.difference.reason == "all metric scores are equal"


def test_nothing_in_common_is_undefined():
    found = permutation_test([1.0], [float("nan")], [1.0], [0], [0])
    assert "at least 3 pairs" in found.difference.reason


def unlike_noise(seed, better=0.0, systems=12, dialogues=30):
    """Two metrics whose system means see people's equally well (or the first better), and whose
    single responses scatter about them with standard deviations 0.2 and 6: one's responses vary
    because systems do, the other's for other reasons."""
    random = np.random.default_rng(seed)
    quality = random.normal(size=systems)
    human = np.repeat(quality, dialogues) + random.normal(size=systems * dialogues) * 0.3
    rows = []
    for error, noise in ((1.0 - better, 0.2), (1.0, 6.0)):
        mean = quality + random.normal(scale=error, size=systems)
        within = random.normal(scale=noise, size=(systems, dialogues))
        within -= within.mean(axis=1, keepdims=True)  # the means are as good as ``error`` says
        rows.append((mean[:, None] + within).ravel())
    return (
        human,
        rows,
        np.repeat(np.arange(systems), dialogues),
        np.tile(np.arange(dialogues), systems),
    )


def share_told_apart(corpora, **made):
    told_apart = 0
    for seed in range(corpora):
        human, rows, system, dialogue = unlike_noise(seed, **made)
        test = permutation_test(
            human, *rows, system, dialogue, permutations=199, seed=seed, swapped="systems"
        )
        told_apart += test.difference.p <= 0.05
    return told_apart / corpora


def test_perm_sys_keeps_its_level_where_one_metric_is_noisier_within_systems():
    # Of 200 corpora 5 % are 10; more than 22 have a chance below 0.1 %.
    assert share_told_apart(200) <= 0.11


def test_perm_sys_finds_a_better_metric_where_one_is_noisier_within_systems():
    # Williams' test finds 96 % of these; swaps of standardised responses find 23 %.
    assert share_told_apart(200, better=0.8) > 0.7
