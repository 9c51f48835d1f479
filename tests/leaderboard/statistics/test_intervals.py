"""What intervals at all levels speak of, and that they hold it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from common.correlation import COEFFICIENTS, cluster_resamples
from common.estimates import Undefined
from leaderboard.statistics.correlation import system_means as system_side
from leaderboard.statistics.correlation.levels import correlate_items, correlate_systems
from leaderboard.statistics.correlation.placed_scores import PlacedScores
from leaderboard.statistics.correlation.resampling import Recipe
from leaderboard.statistics.correlation.true_means import (
    SeenMeans,
    _chance,
    _errors,
    plausible_means,
)
from leaderboard.statistics.ranking.system_ranking import rank_systems
from tests.common.correlation.resampled import SCIPY
from tests.leaderboard.statistics.campaign import campaign
from tests.leaderboard.statistics.made_corpora import Spreads, World


def placed(c, scores):
    return PlacedScores(scores, c.system, c.dialogue)


def system_means(scores, system, systems):
    return np.array([scores[system == number].mean() for number in range(systems)])


def percentiles(values):
    return tuple(np.percentile(values, [2.5, 97.5]))


def test_a_system_s_mean_has_student_s_t_of_its_dialogues():
    c = campaign(systems=3, dialogues=6, turns=2)
    found = rank_systems(placed(c, c.human), 3)[1].mean
    of_dialogues = [c.human[(c.system == 1) & (c.dialogue == d)].mean() for d in range(6)]
    assert found.ci == pytest.approx(
        stats.t.interval(0.95, 5, np.mean(of_dialogues), stats.sem(of_dialogues))
    )


def test_r_of_four_systems_is_corrected_for_few_dialogues():
    c = campaign(systems=4, metrics=1)
    (found,) = correlate_systems(placed(c, c.human), placed(c, c.metrics), c.systems)
    left_out = []
    for d in range(c.dialogues):
        kept = c.dialogue != d
        means = [
            system_means(one[kept], c.system[kept], c.systems) for one in (c.human, c.metrics[0])
        ]
        left_out.append(SCIPY["pearson"](*means)[0])
    n, z = c.dialogues, np.arctanh(left_out)
    pseudo = n * np.arctanh(found.pearson.value) - (n - 1) * z
    expected = stats.t.interval(0.95, n - 1, pseudo.mean(), stats.sem(pseudo))
    assert found.pearson.ci == pytest.approx(tuple(np.tanh(expected)), abs=1e-9)


def test_over_systems_draws_the_systems_with_all_their_responses():
    c = campaign(metrics=1)
    (found,) = correlate_items(
        c.human,
        c.metrics,
        c.dialogue,
        40,
        3,
        system=c.system,
        redraw="systems",
        method="percentile",
    )
    replicates = []
    for multiplicity in cluster_resamples(c.systems, 40, 3):
        items = np.repeat(np.arange(len(c.system)), multiplicity[c.system])
        replicates.append(SCIPY["spearman"](c.human[items], c.metrics[0, items])[0])
    assert found.spearman.ci == pytest.approx(percentiles(replicates), abs=1e-9)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_over_both_an_item_counts_as_often_as_its_system_and_its_dialogue_together(name):
    c = campaign(systems=6, dialogues=5, turns=2, metrics=1)
    (found,) = correlate_items(
        c.human, c.metrics, c.dialogue, 30, 3, system=c.system, redraw="both"
    )
    replicates = []
    for systems, dialogues in zip(
        cluster_resamples(6, 30, 4), cluster_resamples(5, 30, 3), strict=True
    ):
        items = np.repeat(np.arange(len(c.system)), systems[c.system] * dialogues[c.dialogue])
        replicates.append(SCIPY[name](c.human[items], c.metrics[0, items])[0])
    assert getattr(found, name).ci == pytest.approx(percentiles(replicates), abs=1e-9)


def test_over_both_system_means_are_those_of_drawn_systems_in_drawn_dialogues():
    c = campaign(systems=6, dialogues=5, turns=2, metrics=1)
    (found,) = correlate_systems(
        placed(c, c.human), placed(c, c.metrics), 6, None, 30, 3, redraw="both"
    )
    replicates = []
    for systems, dialogues in zip(
        cluster_resamples(6, 30, 4), cluster_resamples(5, 30, 3), strict=True
    ):
        items = np.repeat(np.arange(len(c.system)), dialogues[c.dialogue])
        means = [
            np.round(system_means(one[items], c.system[items], 6), 10)
            for one in (c.human, c.metrics[0])
        ]
        drawn = np.repeat(np.arange(6), systems)
        replicates.append(SCIPY["kendall"](means[0][drawn], means[1][drawn])[0])
    assert found.kendall.ci == pytest.approx(percentiles(replicates), abs=1e-9)


def test_one_dialogue_has_no_interval_over_both():
    c = campaign(systems=6, dialogues=1, turns=4, metrics=1)
    (items,) = correlate_items(
        c.human, c.metrics, c.dialogue, 30, 3, system=c.system, redraw="both"
    )
    (systems,) = correlate_systems(
        placed(c, c.human), placed(c, c.metrics), 6, None, 30, 3, redraw="both"
    )
    for found in (items, systems):
        assert found.pearson.value is not None
        assert (
            found.pearson.reason == "an interval over both needs at least 2 dialogues and 2 systems"
        )


def test_a_jackknife_of_both_is_refused():
    with pytest.raises(ValueError, match="bootstrap only"):
        Recipe("both", "jackknife")


def seen_means(means, left_out, dialogues):
    """``means``: (2, systems); ``left_out``: (2, G, systems); ``dialogues``: (systems,) of both
    sides."""
    return SeenMeans(
        means[0], means[1], left_out[0], left_out[1], (dialogues, dialogues), left_out[0].shape[0]
    )


def test_plausible_means_are_shrunk_by_what_is_noise():
    # Means with variance 2 around 0, of which 1 is error: each lies at half of what is seen, with
    # variance 1 · 1/2.
    random = np.random.default_rng(1)
    true = random.normal(size=(2, 4000))
    errors = random.normal(size=(2, 4000, 40)) * np.sqrt(40)
    seen = true[:, :, None] + errors
    total = seen.sum(axis=2)
    left_out = ((total[:, :, None] - seen) / 39).transpose(0, 2, 1)
    means = seen.mean(axis=2)
    drawn, _ = plausible_means(seen_means(means, left_out, np.full(4000, 40)), 200, 0)
    drawn = drawn * means[0].std(ddof=1)  # draws are in standard units
    slope = np.polyfit(means[0], drawn.mean(axis=0), 1)[0]
    assert slope == pytest.approx(0.5, abs=0.03)
    assert drawn.var(axis=0).mean() == pytest.approx(0.5, abs=0.03)


def test_how_wide_systems_spread_is_drawn_too():
    """20 systems, σ² = 1 and errors of variance 1: the variance of the means drawn ranges over a
    factor of 14. With σ² taken as known it ranges over one of 2.6 to 3.8, in eight corpora such as
    this."""
    random = np.random.default_rng(2)
    seen = random.normal(size=(2, 20, 1)) + random.normal(size=(2, 20, 40)) * np.sqrt(40)
    left_out = ((seen.sum(axis=2, keepdims=True) - seen) / 39).transpose(0, 2, 1)
    means = seen.mean(axis=2)
    drawn, _ = plausible_means(seen_means(means, left_out, np.full(20, 40)), 400, 0)
    spread = np.percentile(drawn.var(axis=1, ddof=1), [2.5, 97.5])
    assert spread[1] > 5 * spread[0]


def test_a_system_of_few_dialogues_may_lie_farther_from_what_is_seen():
    random = np.random.default_rng(3)
    true = 2.0 * random.normal(size=(2, 40))
    left_out = true[:, None] + random.normal(size=(2, 10, 40)) / 9 * np.sqrt(10)
    dialogues = np.where(np.arange(40) < 20, 4, 16)
    drawn, _ = plausible_means(seen_means(true, left_out, dialogues), 400, 0)
    of_few, of_many = (drawn[:, dialogues == count].std(axis=0).mean() for count in (4, 16))
    assert of_few > 1.4 * of_many  # √(16 / 4) = 2 without shrinkage


def made_means(errors: float) -> tuple[np.ndarray, np.ndarray]:
    """(2, 20) means and (2, 10, 20) without each of ten dialogues."""
    random = np.random.default_rng(4)
    means = random.normal(size=(2, 20))
    return means, means[:, None] + errors * random.normal(size=(2, 10, 20))


def test_errors_are_pooled_by_what_each_system_says_of_them():
    """Systems with dialogues 1, 3 and 3, 4, 5, in five dialogues, written as loops: Σ (d − 1) · (d
    − 1) Σ e² over Σ (d − 1), times 2 / 1 for two systems, since what they share is taken out of e
    first."""
    # Without each; means 2 and 4
    left_out = np.array([[3.0, 4.0], [1.0, 4.0], [2.0, 5.0], [2.0, 4.0], [2.0, 3.0]])
    dialogues = np.array([2, 3])
    deviations = left_out - left_out.mean(axis=1, keepdims=True)
    deviations = deviations - deviations.mean(axis=0)
    by_hand = sum(
        (d - 1) * sum((d - 1) * e**2 for e in deviations[:, system])
        for system, d in enumerate(dialogues)
    ) / sum(dialogues - 1)
    found = _errors(left_out, np.zeros((1, 2)), dialogues, dialogues)
    assert found == pytest.approx(np.array([[2.0 * by_hand, 0.0], [0.0, 0.0]]))


def test_how_large_errors_are_is_drawn_too():
    """(G − 1) / χ²: its inverse has mean 1 and variance 2 / (G − 1), 2/3 of four dialogues."""
    drawn = 1 / _chance(20, 4000, 4, 0).of_errors
    assert drawn.mean() == pytest.approx(1.0, abs=0.03)
    assert drawn.var() == pytest.approx(2 / 3, abs=0.05)


def test_each_side_s_errors_are_of_the_dialogues_that_it_was_scored_in(monkeypatch):
    """People rated 3 of 12 dialogues, the metric scored all: the errors are measured in 3."""
    asked = []
    monkeypatch.setattr(
        system_side, "plausible_means", lambda seen, *_: asked.append(seen) or Undefined("asked")
    )
    c = campaign(systems=6, dialogues=12, turns=1, metrics=1)
    correlate_systems(placed(c, np.where(c.dialogue < 3, c.human, np.nan)), placed(c, c.metrics), 6)
    (seen,) = asked
    assert [side.tolist() for side in seen.dialogues] == [[3] * 6, [12] * 6]
    assert seen.groups == 3


def test_a_metric_that_all_but_agrees_is_not_called_noise():
    """20 systems with errors of the means of 0.3 and a metric whose noise is less than it looks:
    draws of Σ fail where its correlation would pass 1, and the reason says that."""
    random = np.random.default_rng(8)
    human = random.normal(size=20)
    errors = 0.03 * random.normal(size=(2, 10, 20))
    metric = human + 1e-3 * random.normal(size=20)
    found = plausible_means(seen_means((human, metric), human + errors, np.full(20, 10)), 100, 0)
    assert isinstance(found, Undefined)
    assert "all that keeps people and the metric from agreeing in full" in found.reason


@pytest.mark.parametrize(
    ("errors", "on_a_line", "reason"),
    [
        (0.0, False, "the same whichever dialogue is left out"),
        (2.0, False, "may be all by which the systems seem to differ"),
        (0.05, True, "lie on one line"),
    ],
)
def test_where_there_are_no_plausible_means_it_says_why(errors, on_a_line, reason):
    means, left_out = made_means(errors)
    metric = 2 * means[0] + 1 if on_a_line else means[1]
    found = plausible_means(seen_means((means[0], metric), left_out, np.full(20, 10)), 100, 0)
    assert isinstance(found, Undefined)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("systems", "says"), [(4, "wider than 95 %"), (7, "hold more than 95 %"), (30, "")]
)
def test_few_systems_are_said_to_be_few(systems, says):
    words = Recipe().words("system", 15, systems)
    assert says in words
    assert "limit of many dialogues" in words


def test_few_dialogues_are_said_to_be_few():
    assert "with 5 dialogues no method is sure" in Recipe().words("turn", 5, 99)
    assert "hold less than 95 %" in Recipe("dialogues", "percentile").words("turn", 15, 99)


def test_systems_that_dialogues_alone_may_part_have_wide_intervals():
    """Systems closer than the noise of their means: ρ = 1 here, where the truth is 0.4. Were the
    spread of the true means taken as known, all plausible means would lie on one line, and the
    interval would be [1, 1]."""
    world = World.made(6, 5, strengths=(0.8,), spreads=Spreads(system=0.2))
    corpus = world.corpus(6, 15, 1)
    human, metrics = (
        PlacedScores(one, corpus.system, corpus.dialogue) for one in (corpus.human, corpus.metrics)
    )
    (found,) = correlate_systems(human, metrics, 5)
    assert world.true_system_correlations("spearman")[0] == pytest.approx(0.4)
    for coefficient in (found.pearson, found.spearman, found.kendall):
        assert coefficient.value > 0.9
        assert coefficient.ci[0] < 0.4


def held_of(make, corpora=120):
    """Shares of intervals that hold the truth; ``make(seed)``: a world, its corpus and the people's
    scores in it."""
    held = {name: [] for name in COEFFICIENTS}
    for seed in range(corpora):
        world, c, human = make(seed)
        (found,) = correlate_systems(placed(c, human), placed(c, c.metrics), c.systems, None, 200)
        for name in COEFFICIENTS:
            interval, true = getattr(found, name).ci, world.true_system_correlations(name)[0]
            if interval is not None:
                held[name].append(interval[0] <= true <= interval[1])
    assert min(len(values) for values in held.values()) > 0.9 * corpora
    return {name: np.mean(values) for name, values in held.items()}


@pytest.mark.slow
def test_systems_that_lie_close_have_intervals_that_hold():
    """120 sets of 20 systems 0.2 points apart in 15 dialogues, reliability 0.5: 95 % of 120, give
    or take 3.3 standard errors of 2 points: at least 88.4 %. With the spread of systems taken as
    known ρ and τ held 78 %, r by the jackknife 83 %."""

    def close(seed):
        world = World.made(seed, 20, strengths=(0.6,), spreads=Spreads(system=0.2))
        c = world.corpus(seed, 15, 1)
        return world, c, c.human

    assert min(held_of(close).values()) > 0.884


def test_two_groups_of_systems_have_intervals_of_ranks_that_hold():
    """120 sets of 20 systems in two groups 1.6 points apart, each 0.06 wide, which dialogues hardly
    tell apart. Of 300 such sets 95 % hold, so less 3.3 standard errors of 2 points. A model of
    normal means takes what parts the groups for what parts systems: its ρ and τ held 72 %."""

    def grouped(seed):
        made = World.made(seed, 20, strengths=(0.6,), spreads=Spreads(system=0.06))
        world = replace(made, quality=made.quality + np.where(np.arange(20) < 10, -0.8, 0.8))
        c = world.corpus(seed, 15, 1)
        return world, c, c.human

    assert min(held_of(grouped).values()) > 0.884


@pytest.mark.parametrize("narrow", ["plausible_means", "plausible_scores"])
def test_ranks_have_the_farther_of_both_models_ends(monkeypatch, narrow):
    """Whichever of the two is sure that all lies where it was seen, ρ and τ stay as unsure as the
    other makes them."""
    c = World.made(2, 12, strengths=(0.6,)).corpus(2, 15, 1)

    def found():
        (one,) = correlate_systems(placed(c, c.human), placed(c, c.metrics), 12)
        return one

    both = found()
    monkeypatch.setattr(
        system_side,
        narrow,
        lambda seen, draws, _seed: np.repeat(seen.standard()[:, None], draws, axis=1),
    )
    one_is_sure = found()
    for name in ("spearman", "kendall"):
        low, high = getattr(one_is_sure, name).ci
        assert high - low > 0.3
        assert getattr(both, name).ci[0] <= low < high <= getattr(both, name).ci[1]


def test_where_both_order_systems_alike_ranks_have_the_interval_of_means():
    """Eight systems half a point apart and ρ = τ = 1: normal scores lie on one line and leave
    nothing to draw from."""
    world = replace(World.made(1, 8, strengths=(1.0,)), quality=np.arange(8) / 2)
    c = world.corpus(1, 30, 3)
    (found,) = correlate_systems(placed(c, c.human), placed(c, c.metrics), 8)
    for coefficient in (found.spearman, found.kendall):
        assert coefficient.value == pytest.approx(1.0)
        assert coefficient.ci[0] < 0.95
        assert coefficient.ci[1] == pytest.approx(1.0)


def test_what_people_did_not_rate_makes_nobody_unsure():
    """20 systems, rated in 3 of 60 dialogues, the metric on all. With the errors pooled as if
    people had rated all, a quarter of the corpora had no interval."""

    def partly(seed):
        world = World.made(seed, 20, strengths=(0.6,))
        c = world.corpus(seed, 60, 1)
        return world, c, np.where(c.dialogue < 3, c.human, np.nan)

    # 95 % of 60, less 3.3 standard errors of 2.8 points
    assert min(held_of(partly, 60).values()) > 0.857


@pytest.mark.parametrize(
    ("recipe", "level", "systems", "expected"),
    [
        (Recipe(), "system", 5, ("pearson", "spearman", "kendall")),
        (Recipe(), "system", 4, ("pearson",)),  # ranks of few systems have percentiles
        (Recipe(), "turn", 5, ()),
        (Recipe(method="percentile"), "system", 5, ()),
        (Recipe(unit="systems"), "system", 5, ()),
    ],
)
def test_which_intervals_speak_of_the_limit_of_many_dialogues(recipe, level, systems, expected):
    assert recipe.of_the_limit(level, systems) == expected


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say_and_percentiles_do_not():
    """240 corpora of 10 dialogues × 25 systems × 5 turns; ``bench.coverage`` has the large shapes.
    95 % of 240 hold, give or take 3.3 standard errors of 1.4 points: 90.3 % to 99.6 %. The
    percentile bootstrap holds fewer."""
    world = World.made(0, 25, strengths=(0.8,))
    large = world.large_corpus(5, 100_000)
    truth = {"turn": np.corrcoef(large.human, large.metrics[0])[0, 1]}
    truth["system r"] = world.true_system_correlations("pearson")[0]
    held = {
        (what, method): []
        for what in (*truth, "system rho", "mean")
        for method in ("jackknife", "percentile")
    }
    for seed in range(240):
        c = world.corpus(seed, 10, 5)
        # Pairs of systems that nearly tie are a world's own luck: ranks hold 95 % over worlds.
        other_world = World.made(seed, 25, strengths=(0.8,))
        other = other_world.corpus(seed, 10, 5)
        true_rho = other_world.true_system_correlations("spearman")[0]
        for method in ("jackknife", "percentile"):
            (turn,) = correlate_items(c.human, c.metrics, c.dialogue, 100, method=method)
            (system,) = correlate_systems(
                placed(c, c.human), placed(c, c.metrics), 25, None, 100, method=method
            )
            (ranks,) = correlate_systems(
                placed(other, other.human),
                placed(other, other.metrics),
                25,
                None,
                100,
                method=method,
            )
            mean = rank_systems(placed(c, c.human), 25, 100, method=method)[4].mean
            for what, true, one in (
                ("turn", truth["turn"], turn.pearson),
                ("system r", truth["system r"], system.pearson),
                ("system rho", true_rho, ranks.spearman),
                ("mean", world.true_human_means[4], mean),
            ):
                # An interval that is withheld, as percentiles beside their value are, holds
                # nothing.
                held[what, method].append(one.ci is not None and one.ci[0] <= true <= one.ci[1])
    shares = {key: np.mean(values) for key, values in held.items()}
    for what in ("turn", "system r", "system rho", "mean"):
        assert 0.903 <= shares[what, "jackknife"] <= 0.996, (what, shares)
    for what in ("turn", "system r", "mean"):
        assert shares[what, "percentile"] < 0.903, (what, shares)
