"""The jackknife's differences against one that leaves out by hand, and the level that it keeps
where others do not."""

import numpy as np
import pytest
from scipy import stats

from bench.null_corpora import Own, Shape, null_corpus
from bench.significance import single_swaps
from leaderboard.statistics.correlation.placed_scores import PlacedScores, system_sums
from leaderboard.statistics.significance.all_pairs import all_pairs_of_items, all_pairs_of_systems
from leaderboard.statistics.significance.clustered import (
    clustered_pairs_of_items,
    clustered_pairs_of_systems,
    delete_one_items,
    delete_one_systems,
    difference_tests,
)
from leaderboard.statistics.significance.williams import williams_test
from tests.leaderboard.statistics.campaign import campaign

PAIR = np.array([0]), np.array([1])


def r(human, metric, kept=None):
    kept = np.ones(len(human), dtype=bool) if kept is None else kept
    return np.corrcoef(human[kept], metric[kept])[0, 1]


def test_what_is_left_out_is_left_out():
    c = campaign(metrics=2)
    found = delete_one_items(c.human, c.metrics, c.system, c.dialogue)
    assert found.whole.tolist() == pytest.approx([r(c.human, row) for row in c.metrics])
    assert found.systems[1, 2] == pytest.approx(r(c.human, c.metrics[1], c.system != 2))
    assert found.dialogues[0, 9] == pytest.approx(r(c.human, c.metrics[0], c.dialogue != 9))
    cell = (c.system == 3) & (c.dialogue == 4)
    assert found.cells[1, 3 * c.dialogues + 4] == pytest.approx(r(c.human, c.metrics[1], ~cell))


def test_the_error_over_dialogues_is_the_jackknife_s():
    c = campaign(metrics=2)
    without = np.array(
        [
            r(c.human, c.metrics[0], c.dialogue != d) - r(c.human, c.metrics[1], c.dialogue != d)
            for d in range(10)
        ]
    )
    error, p = difference_tests(
        delete_one_items(c.human, c.metrics, c.system, c.dialogue), *PAIR, "dialogues"
    )
    expected = np.sqrt(9 / 10 * ((without - without.mean()) ** 2).sum())
    assert error[0] == pytest.approx(expected)
    t = (r(c.human, c.metrics[0]) - r(c.human, c.metrics[1])) / expected
    assert p[0] == pytest.approx(2 * stats.t.sf(abs(t), 9))


def test_means_of_systems_are_made_anew_without_a_dialogue():
    c = campaign(metrics=2)
    sums = [
        system_sums(one, c.system, c.dialogue, c.systems, c.dialogues)
        for one in (c.human, *c.metrics)
    ]
    fixed = np.arange(8.0) ** 2
    found = delete_one_systems(sums[0], [*sums[1:], fixed])
    kept = c.dialogue != 4

    def means(scores):
        return np.array([scores[kept & (c.system == number)].mean() for number in range(c.systems)])

    assert found.dialogues[:2, 4].tolist() == pytest.approx(
        [r(means(c.human), means(row)) for row in c.metrics]
    )
    assert found.dialogues[2, 4] == pytest.approx(r(means(c.human), fixed))


def test_pairs_are_compared_on_what_both_scored():
    c = campaign(metrics=3)
    holed = c.metrics.copy()
    holed[0, c.dialogue == 1] = np.nan
    found = clustered_pairs_of_items(c.human, holed, c.system, c.dialogue, "dialogues")
    kept = c.dialogue != 1
    places = [np.unique(one[kept], return_inverse=True)[1] for one in (c.system, c.dialogue)]
    alone = delete_one_items(c.human[kept], c.metrics[[0, 2]][:, kept], *places)
    assert found.difference[1] == pytest.approx(alone.whole[0] - alone.whole[1])
    assert found.p[1] == pytest.approx(difference_tests(alone, *PAIR, "dialogues")[1][0])
    assert found.difference[2] == pytest.approx(r(c.human, c.metrics[1]) - r(c.human, c.metrics[2]))


def test_a_metric_of_systems_only_stands_still():
    c = campaign(metrics=2)
    human, placed = (PlacedScores(one, c.system, c.dialogue) for one in (c.human, c.metrics))
    found = clustered_pairs_of_systems(human, placed, c.systems, [np.arange(8.0) ** 2])
    assert np.isfinite(found.p).all()
    assert found.alone[2].value == pytest.approx(
        r(c.human.reshape(8, -1).mean(axis=1), np.arange(8.0) ** 2)
    )


def test_a_metric_does_not_differ_from_itself():
    c = campaign(metrics=2)
    twice = np.array([c.metrics[0], 3 * c.metrics[0] + 1])
    assert clustered_pairs_of_items(c.human, twice, c.system, c.dialogue, "both").p.tolist() == [
        1.0
    ]


@pytest.mark.parametrize(
    ("systems", "dialogues", "population"), [(8, 1, "dialogues"), (1, 8, "both")]
)
def test_one_cluster_says_nothing(systems, dialogues, population):
    c = campaign(systems=systems, dialogues=dialogues, turns=6, metrics=2)
    assert np.isnan(
        clustered_pairs_of_items(c.human, c.metrics, c.system, c.dialogue, population).p
    ).all()


def test_two_dialogues_that_happen_to_agree_are_no_certainty():
    """Each dialogue is a copy of the other: whichever is left out, the difference stays, and its
    error is 0."""
    half = campaign(dialogues=1, turns=6, metrics=2)
    human, system = np.tile(half.human, 2), np.tile(half.system, 2)
    metrics, dialogue = np.tile(half.metrics, 2), np.repeat([0, 1], len(half.human))
    found = clustered_pairs_of_items(human, metrics, system, dialogue, "dialogues")
    assert abs(found.difference[0]) > 0.01
    assert np.isnan(found.p).all()


def test_constant_metrics_have_no_p():
    c = campaign(metrics=2)
    metrics = np.array([c.metrics[0], np.ones(len(c.human))])
    found = clustered_pairs_of_items(c.human, metrics, c.system, c.dialogue, "both")
    assert np.isnan(found.p).all()
    assert found.alone[1].reason == "all metric scores are equal"


@pytest.mark.parametrize("unit", [1e-200, 1e-20, 1e200])
def test_neither_difference_nor_p_depends_on_the_unit_of_the_scores(unit):
    """Scores may be likelihoods of 1e-20, and who hands scores in may make them huge."""
    random = np.random.default_rng(3)
    system, dialogue = np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6)
    human = random.normal(size=30)
    metrics = np.array([human + random.normal(size=30), human + 3 * random.normal(size=30)])
    for found in (
        lambda scores: clustered_pairs_of_items(human, scores, system, dialogue, "both"),
        lambda scores: clustered_pairs_of_systems(
            PlacedScores(human, system, dialogue), PlacedScores(scores, system, dialogue), 6
        ),
    ):
        plain, scaled = found(metrics), found(metrics * unit)
        assert 0 < plain.p[0] < 1
        assert scaled.difference == pytest.approx(plain.difference)
        assert scaled.p == pytest.approx(plain.p)


# --- type-I error: two metrics that are equally good, each with opinions of systems ---------------
# 120 corpora at the 10 % level: with a true level of 10 % more than 23 rejections have a chance of
# 0.1 %.

CORPORA, LEVEL, MOST = 120, 0.10, 23


def rejections(test, own, same_systems=False):
    shape = Shape(14, 12, 3)
    return sum(
        test(null_corpus(shape, own, seed, same_systems), seed) <= LEVEL for seed in range(CORPORA)
    )


def jackknife(population):
    def test(c, _seed):
        found = delete_one_items(c.human, c.metrics, c.system, c.dialogue)
        return difference_tests(found, *PAIR, population)[1][0]

    return test


def of_items(swapped):
    return lambda c, seed: all_pairs_of_items(
        c.human, c.metrics, c.system, c.dialogue, 99, seed, swapped
    ).p[0]


def of_systems(swapped):
    def test(c, seed):
        human, metrics = (PlacedScores(one, c.system, c.dialogue) for one in (c.human, c.metrics))
        return all_pairs_of_systems(human, metrics, 14, None, ["pearson"], 99, seed, swapped)[
            "pearson"
        ].p[0]

    return test


def williams(c, _seed):
    means = [one.reshape(14, -1).mean(axis=1) for one in (c.human, *c.metrics)]
    return williams_test(*means).difference.p


OPINIONS = Own(system=0.9, dialogue=0.3, cell=0.3, noise=0.5)


@pytest.mark.parametrize(
    "test",
    [jackknife("both"), of_systems("systems"), williams],
    ids=["two-way jackknife", "PERM-SYS", "Williams"],
)
def test_what_speaks_of_other_systems_keeps_its_level(test):
    assert rejections(test, OPINIONS) <= MOST


@pytest.mark.parametrize(
    "test",
    [
        of_items("both"),
        of_systems("both"),
        of_items("dialogues"),
        single_swaps,
        lambda c, _: williams_test(c.human, *c.metrics).difference.p,
    ],
    ids=[
        "PERM-BOTH, turns",
        "PERM-BOTH, systems",
        "PERM-INPUT",
        "single responses swapped",
        "Williams on turns",
    ],
)
def test_what_does_not_keep_it_is_known(test):
    """Why the site's bands use none of these: they tell equally good metrics apart far too
    often."""
    assert rejections(test, OPINIONS) > 1.3 * MOST


def test_the_jackknife_over_dialogues_keeps_its_level_for_the_same_systems():
    assert rejections(jackknife("dialogues"), OPINIONS, same_systems=True) <= MOST


def test_the_jackknife_over_dialogues_keeps_its_level_where_each_system_has_its_own():
    """Two metrics that are equally good on these very 12 systems; 400 corpora, standard error 1.1
    points."""
    rejected = {"turn": 0, "system": 0}
    for seed in range(400):
        own = Own(system=0.6, dialogue=0.3, cell=0.3, noise=0.7, nested=True)
        corpus = null_corpus(Shape(12, 10, 2), own, seed, same_systems=True)
        places = corpus.system, corpus.dialogue
        of_items = delete_one_items(corpus.human, corpus.metrics, *places)
        sums = [system_sums(one, *places, 12, 120) for one in (corpus.human, *corpus.metrics)]
        of_means = delete_one_systems(sums[0], sums[1:])
        for level, found in (("turn", of_items), ("system", of_means)):
            rejected[level] += difference_tests(found, *PAIR, "dialogues")[1][0] <= 0.05
    assert all(count / 400 <= 0.085 for count in rejected.values()), rejected
