"""Real score lists with correlations that were made with scipy outside this project
(golden/usr_turn_metrics.json)."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from common.correlation import COEFFICIENTS
from leaderboard.statistics.correlation.levels import correlate_items, correlate_systems
from leaderboard.statistics.correlation.placed_scores import PlacedScores

RESPONSES_PER_CONTEXT = 5
LEFT_OUT = {
    "all300_5systems": set(),
    "no_ground_truth_240_4systems": {"Original Ground Truth"},
    "machines_only_180_3systems": {"Original Ground Truth", "New Human Generated"},
}
GOLDEN_NAMES = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_b"}


@pytest.fixture(scope="module")
def golden():
    data = os.environ.get("DIALEVAL_DATA")
    if not data:
        pytest.skip("DIALEVAL_DATA is not set: no real data to test on")
    return json.loads(
        (Path(data).parent / "golden" / "usr_turn_metrics.json").read_text(encoding="utf-8")
    )


def kept(golden, part):
    names = np.array(golden["model"])
    keep = ~np.isin(names, list(LEFT_OUT[part]))
    system = np.unique(names[keep], return_inverse=True)[1]
    dialogue = (np.arange(len(names)) // RESPONSES_PER_CONTEXT)[keep]
    metrics = np.array(list(golden["turn_scores"].values()))[:, keep]
    return np.array(golden["overall_mean"])[keep], metrics, system, dialogue


def by_scipy(coefficient, human, metric):
    """Of scores that are ties where they differ by rounding alone: .6 as 2·.6·.6/1.2 and as 3/5
    (word F1, ROUGE-L, METEOR). The golden file ranks such scores; for a metric without them this is
    its number."""
    human, metric = ([float(f"{score:.12g}") for score in side] for side in (human, metric))
    result = {"spearman": stats.spearmanr, "kendall": stats.kendalltau}[coefficient](human, metric)
    return float(result.statistic), float(result.pvalue)


@pytest.mark.parametrize("part", LEFT_OUT)
def test_turn_level(golden, part):
    human, metrics, _, dialogue = kept(golden, part)
    as_the_file_says = 0
    found_all = correlate_items(human, metrics, dialogue, resamples=100)
    # P is scipy's where there is no interval
    of_responses = correlate_items(human, metrics, dialogue, resamples=0)
    for name, metric, found, bare in zip(
        golden["turn_scores"], metrics, found_all, of_responses, strict=True
    ):
        expected = golden["corr"][name][part]["turn"]
        assert found.n == expected["n"]
        for coefficient in COEFFICIENTS:
            estimate = getattr(found, coefficient)
            r, p = (expected[GOLDEN_NAMES[coefficient]][of] for of in ("r", "p"))
            if coefficient != "pearson":
                scipys, scipys_p = by_scipy(coefficient, human, metric)
                assert scipys == pytest.approx(r, abs=0.006), "rounding unties few pairs"
                as_the_file_says += abs(scipys - r) < 1e-9
                r, p = scipys, scipys_p
            assert estimate.value == pytest.approx(r, abs=1e-9)
            assert getattr(bare, coefficient).p == pytest.approx(p, rel=1e-6)
            assert estimate.ci[0] < estimate.value < estimate.ci[1]
    assert as_the_file_says >= 10  # BLEU and the BERTScores, each with two coefficients


@pytest.mark.parametrize("part", LEFT_OUT)
def test_system_level(golden, part):
    human, metrics, system, dialogue = kept(golden, part)
    sides = PlacedScores(human, system, dialogue), PlacedScores(metrics, system, dialogue)
    # Without an interval p is scipy's
    found_all = correlate_systems(*sides, system.max() + 1, resamples=0)
    for name, found in zip(golden["turn_scores"], found_all, strict=True):
        expected = golden["corr"][name][part]["system"]
        assert found.n == expected["n"]
        for coefficient in COEFFICIENTS:
            estimate = getattr(found, coefficient)
            assert estimate.value == pytest.approx(
                expected[GOLDEN_NAMES[coefficient]]["r"], abs=1e-9
            )
            assert estimate.p == pytest.approx(expected[GOLDEN_NAMES[coefficient]]["p"], rel=1e-6)
