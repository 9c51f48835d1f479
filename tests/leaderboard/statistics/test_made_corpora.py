"""Simulations stand on these: what is said to be true of a made-up corpus is."""

import numpy as np

from tests.leaderboard.statistics.made_corpora import Spreads, World, made_corpus


def test_true_means_are_what_the_means_of_many_dialogues_come_to():
    world = World.made(3, systems=20)
    large = world.large_corpus(responses=500_000)
    # Dialogues are shared, so the means of all systems are off by about 0.3 / √3571 = 0.005
    # together, 0.03 at most.
    np.testing.assert_allclose(large.human_means, world.true_human_means, atol=0.03)
    np.testing.assert_allclose(large.metric_means, world.true_metric_means, atol=0.03)


def test_a_metric_of_strength_one_orders_systems_as_people_do():
    world = World.made(3, systems=20, strengths=(1.0,))
    assert world.true_system_correlations("kendall")[0] == 1.0


def test_a_metric_of_strength_zero_knows_nothing_of_a_response():
    world = World.made(5, systems=40, strengths=(0.0,), spreads=Spreads(system=0.0))
    large = world.large_corpus(responses=400_000)
    assert abs(np.corrcoef(large.human, large.metrics[0])[0, 1]) < 0.01  # se about 0.003


def test_the_seed_decides_all():
    one, same, other = (
        made_corpus(1, systems=5),
        made_corpus(1, systems=5),
        made_corpus(2, systems=5),
    )
    assert (one.ratings == same.ratings).all()
    assert (one.ratings != other.ratings).any()
    assert set(np.unique(one.ratings)) <= {1.0, 2.0, 3.0, 4.0, 5.0}
