"""The simulated raters: what they read, how they differ, and who rates what."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from statistics import fmean

import pytest

from annotations.demo.simulated_raters import (
    PANEL,
    ResponseFeatures,
    SimulatedRater,
    quality_of_dialogue,
    quality_of_response,
    raters_of_items,
    score_prefix,
)

ORDINARY = ResponseFeatures(
    relevance=0.4, persona_use=0.4, words=20, copied=0.0, repeated=0.0, written_by_person=False
)
CAREFUL = SimulatedRater("careful", severity=0.0, spread=1.0, noise=0.0)


@pytest.mark.parametrize(
    "worse",
    [
        replace(ORDINARY, relevance=0.1),
        replace(ORDINARY, persona_use=0.1),
        replace(ORDINARY, words=2),
        replace(ORDINARY, words=90),
        replace(ORDINARY, copied=0.8),
        replace(ORDINARY, repeated=0.5),
    ],
)
def test_each_fault_costs_quality(worse: ResponseFeatures) -> None:
    assert quality_of_response(worse, "same") < quality_of_response(ORDINARY, "same")


def test_what_a_person_wrote_is_taken_to_be_good() -> None:
    written = replace(ORDINARY, written_by_person=True)
    assert fmean(quality_of_response(written, str(seed)) for seed in range(200)) > 4


def test_the_quality_of_a_dialogue_is_pulled_down_by_its_worst_answer() -> None:
    # Same mean, 3.0; the worst differs by two points, of which a fifth counts.
    even, uneven = (
        quality_of_dialogue([3, 3, 3], 0.0, "s"),
        quality_of_dialogue([1, 3, 5], 0.0, "s"),
    )
    assert even - uneven == pytest.approx(0.2 * 2)


def test_a_dialogue_without_responses_has_no_quality() -> None:
    with pytest.raises(ValueError, match="without responses"):
        quality_of_dialogue([], 0.0, "s")


@pytest.mark.parametrize(("quality", "score"), [(-2.0, 1), (1.4, 1), (3.0, 3), (4.6, 5), (9.0, 5)])
def test_a_score_is_a_whole_number_on_the_scale(quality: float, score: int) -> None:
    assert score_prefix(CAREFUL, quality, "s") == score


def test_severity_is_taken_off() -> None:
    assert score_prefix(replace(CAREFUL, severity=1.0), 4.0, "s") == 3


def test_spread_stretches_around_the_middle() -> None:
    assert score_prefix(replace(CAREFUL, spread=2.0), 4.0, "s") == 5  # 3 + 2 · (4 − 3)
    assert score_prefix(replace(CAREFUL, spread=2.0), 3.0, "s") == 3


def test_noise_is_the_raters_own_and_repeatable() -> None:
    first, second = (replace(CAREFUL, name=name, noise=1.0) for name in ("one", "two"))
    scores = [
        [score_prefix(rater, 3.0, str(item)) for item in range(50)]
        for rater in (first, first, second)
    ]
    assert scores[0] == scores[1] != scores[2]


def test_every_two_raters_share_equally_many_items() -> None:
    # 6 choose 3 = 20 trios; each pair is in 4 of them, so 40 items give every pair 8.
    shared = Counter(pair for trio in raters_of_items(40, seed=1) for pair in combinations(trio, 2))
    assert len(shared) == 15
    assert set(shared.values()) == {8}


def test_the_whole_panel_says_that_it_is_simulated() -> None:
    assert [rater.name for rater in PANEL] == [
        f"simulated rater {number}" for number in range(1, 7)
    ]
