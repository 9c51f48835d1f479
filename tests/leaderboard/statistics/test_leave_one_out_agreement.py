import json
import os
from pathlib import Path

import numpy as np
import pytest

from annotations.agreement.matrix import RatingMatrix
from common.correlation import COEFFICIENTS, cluster_resamples
from leaderboard.statistics.correlation.leave_one_out import leave_one_out_agreement
from tests.common.correlation.resampled import SCIPY, drawn_items
from tests.leaderboard.statistics.campaign import campaign


def ratings(raters=4, missing=0.3, seed=1, **size):
    c = campaign(seed=seed, **size)
    random = np.random.default_rng(seed)
    scores = np.clip(
        np.round(c.human + random.normal(scale=0.8, size=(raters, len(c.human)))), 1, 5
    )
    scores[random.random(scores.shape) < missing] = np.nan
    names = tuple(f"r{number}" for number in range(raters))
    return RatingMatrix(scores, c.dialogue, names), c.system


def slow_agreement(scores, system, dialogue, level, name):
    """Leave one rater out, written as loops over dictionaries of lists."""
    coefficients = []
    for rater in range(len(scores)):
        own, others = {}, {}
        for item in range(scores.shape[1]):
            rest = [
                scores[k, item]
                for k in range(len(scores))
                if k != rater and not np.isnan(scores[k, item])
            ]
            if np.isnan(scores[rater, item]) or not rest:
                continue
            place = {
                "turn": item,
                "dialogue": (system[item], dialogue[item]),
                "system": system[item],
            }[level]
            own.setdefault(place, []).append(scores[rater, item])
            others.setdefault(place, []).append(np.mean(rest))
        means = [np.round([np.mean(side[place]) for place in own], 10) for side in (own, others)]
        coefficients.append(SCIPY[name](*means)[0])
    return float(np.mean(coefficients))


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("level", ["turn", "dialogue", "system"])
def test_agreement_equals_the_definition_written_as_loops(level, name):
    matrix, system = ratings()
    found = leave_one_out_agreement(matrix, system, resamples=0)[level][name]
    assert found.value == pytest.approx(
        slow_agreement(matrix.scores, system, matrix.dialogue_of_item, level, name)
    )


@pytest.mark.parametrize("level", ["turn", "system"])
def test_interval_is_that_of_the_agreement_of_redrawn_dialogues(level):
    # Data and draws whose percentiles hold the value: those of most with so few dialogues lie below
    # it.
    matrix, system = ratings(systems=5, dialogues=8, turns=2, missing=0.0, seed=2)
    found = leave_one_out_agreement(matrix, system, resamples=20, seed=4, method="percentile")[
        level
    ]["pearson"]
    replicates = []
    for multiplicity in cluster_resamples(8, 20, 4):
        items = drawn_items(matrix.dialogue_of_item, multiplicity)
        drawn = matrix.scores[:, items]
        replicates.append(
            slow_agreement(drawn, system[items], matrix.dialogue_of_item[items], level, "pearson")
        )
    assert found.ci == pytest.approx(tuple(np.percentile(replicates, [2.5, 97.5])), abs=1e-8)
    assert found.p is None


@pytest.mark.parametrize(
    ("kind", "reason"), [("aggregate", "mean scores"), ("anonymous", "anonymous")]
)
def test_raters_who_are_not_persons_have_no_agreement(kind, reason):
    matrix, system = ratings()
    nobody = RatingMatrix(matrix.scores, matrix.dialogue_of_item, matrix.raters, rater_kind=kind)
    for by_coefficient in leave_one_out_agreement(nobody, system).values():
        for estimate in by_coefficient.values():
            assert estimate.value is None
            assert reason in estimate.reason


def test_one_rater_cannot_be_left_out():
    matrix, system = ratings(raters=1)
    assert "at least 2 raters" in leave_one_out_agreement(matrix, system)["turn"]["pearson"].reason


def test_raters_who_share_no_item_have_no_agreement():
    scores = np.full((2, 8), np.nan)
    scores[0, :4], scores[1, 4:] = [1, 2, 3, 4], [4, 3, 2, 1]
    found = leave_one_out_agreement(
        RatingMatrix(scores, np.arange(8), ("a", "b")), np.zeros(8, dtype=int)
    )
    for level in ("turn", "dialogue", "system"):
        assert "at least 3 pairs" in found[level]["kendall"].reason


def test_a_rater_with_one_score_only_is_left_out_of_the_mean():
    steady = np.array([[1.0, 2, 3, 5], [1, 2, 4, 5], [3, 3, 3, 3]])
    found = leave_one_out_agreement(
        RatingMatrix(steady, np.arange(4), ("a", "b", "c")), np.arange(4), resamples=0
    )
    first = SCIPY["pearson"](steady[0], steady[1:].mean(axis=0))[0]
    second = SCIPY["pearson"](steady[1], steady[[0, 2]].mean(axis=0))[0]
    assert found["turn"]["pearson"].value == pytest.approx((first + second) / 2)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_fractional_scores_tie_whatever_the_order_of_raters(name):
    """(0.1 + 0.2 + 0.3) / 3 and (0.3 + 0.2 + 0.1) / 3 differ in the last bit, and ranks would see
    an order."""
    scores = np.random.default_rng(3).integers(1, 4, (4, 60)) / 10
    forth, back = (
        leave_one_out_agreement(
            RatingMatrix(rows, np.arange(60) % 12, ("a", "b", "c", "d")),
            np.zeros(60, int),
            ("turn",),
            0,
        )
        for rows in (scores, scores[::-1])
    )
    assert forth["turn"][name].value == pytest.approx(back["turn"][name].value, abs=1e-12)


def test_usr_overall_equals_the_reference():
    """golden/agreement.json, usr_persona_Overall_named, leave_one_out_by_row: scipy on four named
    raters."""
    data = os.environ.get("DIALEVAL_DATA")
    if not data:
        pytest.skip("DIALEVAL_DATA is not set: no real data to test on")
    contexts = json.loads((Path(data) / "usr" / "pc_usr_data.json").read_text(encoding="utf-8"))
    responses = [
        (number, response)
        for number, context in enumerate(contexts)
        for response in context["responses"]
    ]
    names = sorted({name for context in contexts for name in context["annotators"]})
    models = sorted({response["model"] for _, response in responses})
    scores = np.full((len(names), len(responses)), np.nan)
    for item, (number, response) in enumerate(responses):
        for name, score in zip(contexts[number]["annotators"], response["Overall"], strict=True):
            scores[names.index(name), item] = score
    matrix = RatingMatrix(scores, np.array([number for number, _ in responses]), tuple(names))
    system = np.array([models.index(response["model"]) for _, response in responses])
    golden = json.loads(
        (Path(data).parent / "golden" / "agreement.json").read_text(encoding="utf-8")
    )
    expected = golden["sets"]["usr_persona_Overall_named"]["leave_one_out_by_row"]
    found = leave_one_out_agreement(matrix, system, resamples=100)
    for name, golden_name in (
        ("pearson", "pearson"),
        ("spearman", "spearman"),
        ("kendall", "kendall_b"),
    ):
        assert found["turn"][name].value == pytest.approx(expected[golden_name]["mean"], abs=1e-9)
        assert found["turn"][name].ci[0] < found["turn"][name].value < found["turn"][name].ci[1]
