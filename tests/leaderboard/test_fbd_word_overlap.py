"""The word overlap of the FBD paper's table of correlations: all 36 figures, to their three
digits."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.stats import spearmanr

from leaderboard.reproduction.fbd import CORRELATIONS, OURS
from leaderboard.reproduction.published import Row
from tests.workers.metrics.pairs import data_folder, fbd_systems
from workers.metrics import wordnet
from workers.metrics.common.configuration import parse

METRICS = [one for one in CORRELATIONS.rows if one.group == "Word overlap"]


def scores_of_people(corpus: str) -> list[float]:
    """A system's mean of the last aspect, which is the overall one."""
    text = (data_folder() / "fbd" / f"{corpus}_annotation.json").read_text(encoding="utf-8")
    given = [json.loads(line)["human_scores"] for line in text.splitlines()]
    return [
        math.fsum(np.ravel(of_turn[system])[-1] for of_turn in given) / len(given)
        for system in range(len(given[0]))
    ]


def scores_of(metric: str, corpus: str) -> list[float]:
    configuration = parse(OURS[metric])
    scorer = configuration.scorer()
    if configuration.metric.levels == {"system"}:
        return [scorer.score_system(examples, []) for examples in fbd_systems(corpus)]
    return [math.fsum(scorer.score(examples)) / len(examples) for examples in fbd_systems(corpus)]


@pytest.mark.skipif(bool(wordnet.missing()), reason=wordnet.missing())
@pytest.mark.parametrize("corpus", CORRELATIONS.columns)
@pytest.mark.parametrize("metric", METRICS, ids=[one.metric for one in METRICS])
def test_the_papers_figures_come_out_to_three_digits(metric: Row, corpus: str) -> None:
    ours, people = scores_of(metric.metric, corpus), scores_of_people(corpus)
    found = {
        "spearman": abs(spearmanr(ours, people).statistic),
        "pearson": abs(np.corrcoef(ours, people)[0, 1]),
    }
    printed = metric.of_column(corpus)
    assert found.keys() == printed.keys()
    for name, figure in printed.items():
        assert figure.is_same(found[name]), (name, figure, found[name])
