from itertools import combinations

import numpy as np
import pytest

from leaderboard.statistics.significance.compact_letters import compact_letters


def p_of(significant, metrics):
    p = np.full((metrics, metrics), 0.5)
    for first, second in significant:
        p[first, second] = p[second, first] = 0.01
    return p


def test_groups_overlap_where_the_tests_do():
    # 0 and 2 differ; 1 is like both: "a", "ab", "b".
    assert compact_letters([0.9, 0.8, 0.7], p_of([(0, 2)], 3)) == [[0], [0, 1], [1]]


def test_a_group_may_have_a_gap():
    # The noisy 2 is like all; 0 and 1 differ from 3 and from one another.
    significant = [(0, 1), (0, 3), (1, 3)]
    found = compact_letters([0.9, 0.8, 0.75, 0.6], p_of(significant, 4))
    assert found == [[0], [1], [0, 1, 2], [2]]


def test_the_letters_of_piepho_s_way_by_hand():
    # abcd; 0–3 differ: bcd (without 0), abc (without 3) → [0,1,2], [1,2,3]; then 0–2: [0,1],
    # [1,2]⊂[1,2,3].
    assert compact_letters([4.0, 3.0, 2.0, 1.0], p_of([(0, 3), (0, 2)], 4)) == [
        [0],
        [0, 1],
        [1],
        [1],
    ]


def test_letters_follow_the_coefficient_and_not_the_order_given():
    assert compact_letters([0.2, 0.8, 0.9], p_of([(0, 1), (0, 2)], 3)) == [[1], [0], [0]]


def test_a_metric_without_a_coefficient_has_no_letter_and_splits_none():
    assert compact_letters([0.9, None, 0.2], p_of([(0, 1), (1, 2)], 3)) == [[0], [], [0]]


def test_a_pair_that_was_not_tested_is_not_told_apart():
    p = p_of([], 2)
    p[0, 1] = p[1, 0] = np.nan
    assert compact_letters([0.9, 0.2], p) == [[0], [0]]


def test_no_metric_has_no_letters():
    assert compact_letters([], np.empty((0, 0))) == []


def test_p_of_another_size_is_refused():
    with pytest.raises(ValueError, match="every pair of 2 metrics"):
        compact_letters([0.1, 0.2], p_of([], 3))


@pytest.mark.parametrize("seed", range(30))
def test_two_metrics_share_a_letter_exactly_where_no_test_tells_them_apart(seed):
    random = np.random.default_rng(seed)
    metrics = 12
    significant = {pair for pair in combinations(range(metrics), 2) if random.random() < 0.4}
    groups = compact_letters(random.normal(size=metrics).tolist(), p_of(significant, metrics))
    for pair in combinations(range(metrics), 2):
        shared = set(groups[pair[0]]) & set(groups[pair[1]])
        assert bool(shared) == (pair not in significant)
