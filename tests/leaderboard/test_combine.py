"""Several metrics as one: a regression on human scores, and the command that writes its scores."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from leaderboard.statistics.metric_regression import (
    TooFewScoresError,
    fit,
    predict,
    predict_held_out,
)
from tests.campaigns.sets import made_user
from tests.leaderboard.conftest import Rated

# --- the regression -------------------------------------------------------------------------------


def test_coefficients_are_those_of_least_squares() -> None:
    """x = 0, 1, 2, 3; h = 1, 2, 4, 5: slope Σ(x−1.5)(h−3) / Σ(x−1.5)² = 7/5, intercept 3 − 2.1."""
    found = fit(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 4.0, 5.0]))
    assert found == pytest.approx([0.9, 1.4])
    assert predict(np.array([[10.0]]), found) == pytest.approx([14.9])


def test_metrics_that_say_the_same_share_a_coefficient() -> None:
    """h = 2x: of all a + b = 2 the shortest is a = b = 1."""
    x = np.array([-1.0, 0.0, 0.0, 1.0])
    assert fit(np.column_stack([x, x]), 2 * x) == pytest.approx([0, 1, 1], abs=1e-12)


def test_a_held_out_dialogue_does_not_tell_its_own_score() -> None:
    """Everybody gives 1 but for the responses of d0: from all others it is 1, too."""
    dialogues = ["d0", "d0", *(f"d{number}" for number in range(1, 7))]
    features = np.arange(8.0)[:, None]
    targets = np.array([5.0, 5.0, *[1.0] * 6])
    predicted = predict_held_out(features, targets, dialogues, folds=7)
    assert predicted[:2] == pytest.approx([1, 1])


def test_what_nobody_rated_is_predicted_and_not_fitted() -> None:
    features = np.arange(8.0)[:, None]
    targets = np.array([np.nan, *(2 * features[1:, 0] + 1)])
    dialogues = [str(number) for number in range(8)]
    assert predict_held_out(features, targets, dialogues, folds=2)[0] == pytest.approx(1)


@pytest.mark.parametrize(("rows", "folds", "why"), [(2, 2, "too few to fit 2"), (9, 10, "9 dial")])
def test_too_few_responses_or_dialogues_are_refused(rows: int, folds: int, why: str) -> None:
    values = np.arange(float(rows))
    with pytest.raises(TooFewScoresError, match=why):
        predict_held_out(values[:, None], values, [str(one) for one in range(rows)], folds)


# --- the command ----------------------------------------------------------------------------------

PLACES = {
    (f"d{number}", 0, "echo"): (2.0 * (number % 2) + 3, number % 2 + 1) for number in range(6)
}
"""Responses of one and two letters, which people give 3 and 5: 1 + 2 · length."""
METRICS = "length,response_length"
"""The second counts words: 1 everywhere."""


@pytest.mark.django_db
def test_the_file_holds_what_the_regression_says_and_is_a_metric(
    rated: Rated, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rated(PLACES, metrics=METRICS)
    target = tmp_path / "usr.csv"
    options = {"metrics": METRICS, "name": "usr", "to": target, "folds": 3}
    capsys.readouterr()
    call_command("combine", "small", **options)
    assert "6 responses, fitted to 6 rated ones of small" in capsys.readouterr().out
    rows = list(csv.DictReader(target.open(encoding="utf-8-sig")))
    assert [float(row["usr"]) for row in rows] == pytest.approx([3, 5, 3, 5, 3, 5])
    made_user("ann")
    call_command("add_to_corpus", "small", str(target), metric_scores=True, user="ann")
    call_command("correlate", corpus="small", metrics="usr", level="turn")
    assert "usr" in capsys.readouterr().out


@pytest.mark.django_db
def test_another_corpus_s_ratings_are_fitted_alone(rated: Rated, tmp_path: Path) -> None:
    """That it is fitted as a whole shows: two dialogues are too few for its own folds."""
    rated(PLACES, metrics=METRICS)
    target = tmp_path / "usr.csv"
    options = {"metrics": METRICS, "name": "usr", "to": target}
    with pytest.raises(CommandError, match="6 dialogues are too few for 10 folds"):
        call_command("combine", "small", **options)
    assert not target.exists()
    call_command("combine", "small", **options, fit_on="small")
    assert len(target.read_text().splitlines()) == 1 + 6


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("length", "name two metrics or more"),
        ("length,word_f1", "word_f1 has no scores of responses of small"),
        ("length,lengt", "lengt"),
    ],
)
def test_what_cannot_be_combined_is_refused_and_writes_nothing(
    rated: Rated, tmp_path: Path, metrics: str, message: str
) -> None:
    rated(PLACES)
    target = tmp_path / "none.csv"
    with pytest.raises(CommandError, match=message):
        call_command("combine", "small", metrics=metrics, name="x", to=target)
    assert not target.exists()
    target.write_text("mine")
    with pytest.raises(CommandError, match="is there already"):
        call_command("combine", "small", metrics=metrics, name="x", to=target)
    assert target.read_text() == "mine"
