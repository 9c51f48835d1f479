"""Preferences against the numbers of other packages (golden/preferences, whose README says which),
rounded there to ten decimals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from common.estimates import Undefined
from leaderboard.statistics.preferences.battles import average_win_rates, win_rates
from leaderboard.statistics.preferences.bradley_terry import (
    elo,
    log_likelihood,
    resampled_strengths,
    strengths,
)
from leaderboard.statistics.preferences.connectivity import components
from leaderboard.statistics.preferences.covariates import (
    CovariateFit,
    fit_with_covariates,
    relative_difference,
    scaled,
)
from leaderboard.statistics.preferences.davidson import DavidsonFit, davidson
from leaderboard.statistics.preferences.metric_pairs import metric_on_pairs, score_differences
from leaderboard.statistics.preferences.uncertainty import clustered, rank_ranges
from leaderboard.statistics.preferences.vote_agreement import vote_agreement
from tests.leaderboard.statistics.preferences.tables import (
    battles_of,
    numbered,
    reference,
    rows_of,
)

WITH_STRENGTHS = (
    "tiny_7_3",
    "tiny_6_2_4",
    "six_ties",
    "unbalanced",
    "raters",
    "pandalm:human1",
    "pandalm:pandalm7b",
    "usr_overall_pairs",
)
WITHOUT = ("disconnected", "wins_all")
WITHIN = {"abs": 1e-8}


def near(expected: Any) -> Any:
    return pytest.approx(np.array(expected, dtype=np.float64), **WITHIN)


def plain_fit(battles: Any) -> CovariateFit:
    return CovariateFit(strengths(battles.wins()), np.empty(0))


@pytest.mark.parametrize("table", WITH_STRENGTHS + WITHOUT)
def test_wins_and_win_rates(golden: Path, table: str) -> None:
    systems, battles, _ = battles_of(golden, table)
    expected = reference(golden, "bradley_terry")["tables"][table]
    assert systems == expected["systems"]
    assert (battles.ties() == expected["ties"]).all()
    outright = battles.wins() - battles.ties() / 2
    assert (outright == expected["wins"]).all()
    rates = np.array(expected["pairwise_win_rate_ties_half"], dtype=np.float64)  # None: NaN
    assert win_rates(battles.wins()) == pytest.approx(rates, nan_ok=True, **WITHIN)
    assert average_win_rates(battles.wins()) == near(expected["average_win_rate"])


@pytest.mark.parametrize("table", WITH_STRENGTHS + WITHOUT)
def test_components(golden: Path, table: str) -> None:
    systems, battles, _ = battles_of(golden, table)
    expected = reference(golden, "bradley_terry")["tables"][table]
    for connection in ("weak", "strong"):
        groups = components(battles.wins(), connection)
        named = [[systems[number] for number in group] for group in groups]
        assert named == expected[f"{connection}ly_connected_components"]


@pytest.mark.parametrize("table", WITH_STRENGTHS)
def test_strengths(golden: Path, table: str) -> None:
    battles = battles_of(golden, table)[1]
    expected = reference(golden, "bradley_terry")["tables"][table]["bradley_terry"]
    found = strengths(battles.wins())
    assert found == near(expected["log_strength"])
    assert elo(found) == pytest.approx(np.array(expected["elo_1000"]), abs=1e-6)
    assert log_likelihood(battles, found) == near(expected["log_likelihood"])


@pytest.mark.parametrize("table", WITHOUT)
def test_no_strengths(golden: Path, table: str) -> None:
    wins = battles_of(golden, table)[1].wins()
    assert reference(golden, "bradley_terry")["tables"][table]["bradley_terry"] is None
    assert np.isnan(strengths(wins)).all()


@pytest.mark.parametrize("table", WITH_STRENGTHS)
def test_standard_errors_and_intervals(golden: Path, table: str) -> None:
    battles = battles_of(golden, table)[1]
    expected = reference(golden, "bradley_terry")["tables"][table]["bradley_terry"]
    fit = plain_fit(battles)
    by_vote = clustered(battles, fit, np.arange(len(battles)))
    errors = expected["standard_error"]
    assert np.sqrt(np.diag(by_vote.covariance)) == near(errors["sandwich_HC0"])
    found = clustered(battles, fit, battles.conversation)
    assert np.sqrt(np.diag(found.covariance)) == near(errors["cluster_no_correction"])
    apart = found.difference_errors() / np.sqrt(found.correction)
    assert apart == near(expected["se_of_differences_cluster_no_correction"])
    shown = expected["recommended_interval95"]
    assert found.clusters == shown["dialogues"]
    assert found.quantile() == near(shown["t"])
    assert found.standard_errors == near(shown["standard_error"])
    low, high = found.intervals(fit.strength)
    assert low == near(shown["low"])
    assert high == near(shown["high"])
    best, worst = rank_ranges(low, high)
    assert best.tolist() == shown["rank_range"]["best"]
    assert worst.tolist() == shown["rank_range"]["worst"]


@pytest.mark.parametrize("table", [one for one in WITH_STRENGTHS if one != "pandalm:pandalm7b"])
def test_cluster_bootstrap(golden: Path, table: str) -> None:
    battles = battles_of(golden, table)[1]
    expected = reference(golden, "bradley_terry")["tables"][table]["bradley_terry"]
    expected = expected["cluster_bootstrap"]
    found = resampled_strengths(battles, expected["resamples"], expected["seed"])
    undefined = np.isnan(found).any(axis=1)
    assert undefined.sum() == expected["undefined_resamples"]
    assert found[0] == pytest.approx(np.array(expected["first_resample"]), abs=1e-6)
    assert found[~undefined].mean(axis=0) == pytest.approx(np.array(expected["mean"]), abs=1e-6)
    ends = np.percentile(found[~undefined], (2.5, 97.5), axis=0)
    assert ends[0] == pytest.approx(np.array(expected["percentile_2_5"]), abs=1e-6)
    assert ends[1] == pytest.approx(np.array(expected["percentile_97_5"]), abs=1e-6)


@pytest.mark.parametrize(
    "table", ["tiny_6_2_4", "six_ties", "unbalanced", "raters", "usr_overall_pairs"]
)
def test_davidson(golden: Path, table: str) -> None:
    battles = battles_of(golden, table)[1]
    expected = reference(golden, "bradley_terry")["tables"][table]["davidson"]
    ties = battles.ties()
    found = davidson(battles.wins() - ties / 2, ties)
    assert isinstance(found, DavidsonFit)
    assert found.strength == near(expected["log_strength"])
    assert found.nu == near(expected["nu"])
    assert found.log_likelihood == near(expected["log_likelihood"])


@pytest.mark.parametrize("table", ["position", "pandalm:gpt35"])
def test_position(golden: Path, table: str) -> None:
    battles = battles_of(golden, table)[1]
    expected = reference(golden, "position_style")["position"][table]
    slot = np.ones((len(battles), 1))
    found = fit_with_covariates(battles, slot)
    assert isinstance(found, CovariateFit)
    assert battles.won.mean() == near(expected["share_won_by_slot_a_ties_half"])
    assert found.coefficients[0] == near(expected["log_odds_of_slot_a"])
    assert found.strength == near(expected["log_strength"])
    error = clustered(battles, found, battles.conversation, slot).covariance[-1, -1] ** 0.5
    assert error == near(expected["se_cluster_no_correction"])


@pytest.mark.parametrize("table", ["length", "pandalm:human1"])
def test_length_held_constant(golden: Path, table: str) -> None:
    _, battles, rows = battles_of(golden, table)
    expected = reference(golden, "position_style")["style_control"][table]
    unit = "words" if ":" in table else "length"
    a, b = ([float(row[f"{unit}_{slot}"]) for row in rows] for slot in "ab")
    feature = relative_difference(a, b)
    assert feature.std() == near(expected["feature_sd_ddof0"])
    length = scaled(feature)
    assert length is not None
    features = length[:, np.newaxis]
    found = fit_with_covariates(battles, features)
    assert isinstance(found, CovariateFit)
    expected = expected["unpenalised_sd_scaled_not_centred"]
    assert found.coefficients[0] == near(expected["length_coefficient"])
    assert found.strength == near(expected["log_strength"])
    covariance = clustered(battles, found, battles.conversation, features).covariance
    errors = np.sqrt(np.diag(covariance))
    assert errors[:-1] == near(expected["se_log_strength_cluster_no_correction"])
    assert errors[-1] == near(expected["length_se_cluster_no_correction"])


METRICS = ["metric_pairs", *(f"pandalm human{rater} (item % 3 != 0), words" for rater in (1, 2, 3))]


@pytest.mark.parametrize("name", METRICS)
def test_metric_on_pairs(golden: Path, name: str) -> None:
    expected = reference(golden, "metric_pairs_and_swap")["metric_on_pairs"][name]
    if name == "metric_pairs":
        rows, rater, metric, own = rows_of(golden, name), "human", "metric", "pair"
    else:
        rows = [row for row in rows_of(golden, "pandalm") if int(row["item"]) % 3]
        rater, metric, own = name.split()[1], "words", "instruction"
    a, b = ([float(row[f"{metric}_{slot}"]) for row in rows] for slot in "ab")
    difference = score_differences(a, b)
    won = [{"a": 1.0, "b": 0.0, "tie": 0.5}[row[rater]] for row in rows]
    found = metric_on_pairs(difference, won, numbered([row[own] for row in rows]))
    assert (found.votes, found.decisive) == (expected["pairs"], expected["decisive"])
    assert found.tied == expected["metric_ties_among_decisive"]
    assert found.accuracy.value == near(expected["accuracy_metric_tie_is_half"])
    assert found.ties_wrong.value == near(expected["accuracy_metric_tie_is_wrong"])
    assert found.ties_left_out.value == near(expected["accuracy_metric_ties_left_out"])
    assert found.auc.value == near(expected["auc"])
    assert found.three_classes.value == near(expected["three_class_accuracy_epsilon_0"])
    calibrated = expected["three_class_accuracy_tie_calibrated"]
    assert found.calibrated == near(calibrated["accuracy"])
    assert found.threshold == near(calibrated["epsilon"])


@pytest.mark.parametrize("name", ["raters", "usr_overall_pairs", "pandalm humans (all)"])
def test_agreement_of_people(golden: Path, name: str) -> None:
    expected = reference(golden, "agreement")["agreement"][name]
    if name.startswith("pandalm"):
        rows = [
            {"pair": row["item"], "winner": row[rater], "dialogue": row["instruction"]}
            for row in rows_of(golden, "pandalm")
            for rater in ("human1", "human2", "human3")
        ]
        turned = [row["winner"] for row in rows]
    else:
        rows = rows_of(golden, name)
        other = {"a": "b", "b": "a", "tie": "tie"}
        turned = [
            row["winner"] if row["system_a"] < row["system_b"] else other[row["winner"]]
            for row in rows
        ]
        for row in rows:
            pair = sorted((row["system_a"], row["system_b"]))
            row["pair"] = " ".join((row["dialogue"], *pair))
    won = [{"a": 1.0, "b": 0.0, "tie": 0.5}[one] for one in turned]
    found = vote_agreement(
        numbered([row["pair"] for row in rows]), won, numbered([row["dialogue"] for row in rows])
    )
    with_ties = expected["fastchat_human_human_S1_with_ties"]
    without = expected["fastchat_human_human_S2_without_ties"]
    assert (found.pairs, found.decisive_pairs) == (with_ties["total"], without["total"])
    assert found.with_ties.value == near(with_ties["ratio"])
    assert found.without_ties.value == near(without["ratio"])


def test_an_undefeated_system_leaves_nothing_to_hold_length_against(golden: Path) -> None:
    battles = battles_of(golden, "wins_all")[1]
    assert isinstance(fit_with_covariates(battles, np.ones((len(battles), 1))), Undefined)
