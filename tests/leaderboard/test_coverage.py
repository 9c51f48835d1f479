"""Coverage: the share of the human-scored responses that a metric scored, beside every correlation.
Nothing is imputed: what has no score is left out, and is said."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.core.management import call_command

from annotations.models import CorpusVersion
from leaderboard.answers.metrics import CorrelationRow
from leaderboard.pages.metrics.tables import metric_board
from leaderboard.queries import meta_evaluation
from tests.leaderboard.conftest import Rated
from workers.models import MetricRun

pytestmark = pytest.mark.django_db

TWO_SYSTEMS = {
    ("d0", 0, "echo"): (1, 1),
    ("d0", 1, "echo"): (2, 3),
    ("d1", 0, "echo"): (3, 2),
    ("d0", 0, "dull"): (4, 4),
    ("d0", 1, "dull"): (5, 6),
    ("d1", 0, "dull"): (4, 5),
}
OF_DIALOGUES = {("d0", "echo"): 2.0, ("d1", "echo"): 3.0, ("d0", "dull"): 4.0, ("d1", "dull"): 5.0}


def without(version: CorpusVersion, system: str, places: list[int]) -> None:
    """As if the metric had found no score at these turns."""
    run = MetricRun.objects.get(system__version=version, system__name=system)
    for place in places:
        run.turn_scores[place] = None
        run.undefined[str(place)] = "the answer could not be read"
    run.save()


def by_level(version: CorpusVersion) -> dict[str, CorrelationRow]:
    document = meta_evaluation(version, "overall", resamples=0)
    return {row.level: row for row in document.rows}


def test_it_is_the_share_of_rated_responses_that_have_a_score_at_every_level(rated: Rated) -> None:
    version = rated(TWO_SYSTEMS)
    without(version, "echo", [1])
    rows = by_level(version)
    assert {level: row.coverage for level, row in rows.items()} == dict.fromkeys(
        rows, pytest.approx(5 / 6)
    )
    assert {level: row.n for level, row in rows.items()} == {
        "turn": 5,
        "dialogue": 4,
        "system": 2,
    }


def test_a_response_that_nobody_rated_does_not_count(rated: Rated) -> None:
    places = {**TWO_SYSTEMS, ("d0", 1, "echo"): (None, 3)}
    version = rated(places)
    without(version, "echo", [1])
    assert {row.coverage for row in by_level(version).values()} == {1.0}


def test_where_people_rated_whole_dialogues_all_responses_in_these_count(rated: Rated) -> None:
    """d0 has two turns and d1 one: with d0's second answer of echo missing, 5 of 6; without d1 of
    dull rated, of 5."""
    unrated = {place: (None, length) for place, (_, length) in TWO_SYSTEMS.items()}
    version = rated(unrated, OF_DIALOGUES)
    without(version, "echo", [1])
    assert by_level(version)["dialogue"].coverage == pytest.approx(5 / 6)


def test_dialogues_that_nobody_rated_do_not_count(rated: Rated) -> None:
    unrated = {place: (None, length) for place, (_, length) in TWO_SYSTEMS.items()}
    version = rated(
        unrated, {place: score for place, score in OF_DIALOGUES.items() if place != ("d1", "dull")}
    )
    without(version, "echo", [1])
    assert by_level(version)["dialogue"].coverage == pytest.approx(4 / 5)


def test_a_system_that_was_not_computed_is_not_covered(rated: Rated) -> None:
    version = rated(TWO_SYSTEMS)
    MetricRun.objects.filter(system__name="dull").delete()
    assert by_level(version)["turn"].coverage == pytest.approx(3 / 6)


def test_a_metric_of_systems_covers_systems(rated: Rated) -> None:
    version = rated(TWO_SYSTEMS)
    MetricRun.objects.filter(system__name="dull").update(system_score=None, system_reason="none")
    MetricRun.objects.update(turn_scores=[])
    # "length" is of turns: no turn has a score
    assert by_level(version)["system"].coverage == 0.0


# --- where it stands ------------------------------------------------------------------------------


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]):
    def run(form: str) -> str:
        capsys.readouterr()
        call_command("correlate", "--corpus", "small", "--resamples", "0", "--format", form)
        return capsys.readouterr().out

    return run


def test_correlate_prints_it_beside_n_in_every_format(rated: Rated, printed) -> None:
    without(rated(TWO_SYSTEMS), "echo", [1])
    header, _, first, *_ = printed("table").splitlines()
    assert header.split()[:4] == ["metric", "level", "n", "coverage"]
    assert first.split()[:5] == ["length", "turn", "5", "83", "%"]
    assert json.loads(printed("json"))["rows"][0]["coverage"] == pytest.approx(5 / 6)
    assert float(next(csv.DictReader(io.StringIO(printed("csv"))))["coverage"]) == pytest.approx(
        5 / 6
    )
    latex = printed("latex")
    assert "% length, turn level: 83 % of what people rated has a score, n = 5" in latex
    assert r"length$^\ddagger$" in latex


def test_latex_is_quiet_where_everything_has_a_score(rated: Rated, printed) -> None:
    rated(TWO_SYSTEMS)
    assert "has a score" not in printed("latex")


def test_the_board_marks_a_metric_that_left_something_out(rated: Rated) -> None:
    version = rated(TWO_SYSTEMS)
    (row, *_) = metric_board(
        meta_evaluation(version, "overall", resamples=0), version.created_at
    ).rows
    assert row.badges == ()
    assert row.cell("turn-coverage").value == 1.0
    without(version, "echo", [1])
    (row, *_) = metric_board(
        meta_evaluation(version, "overall", resamples=0), version.created_at
    ).rows
    assert row.badges == ("83 % scored",)
    assert row.cell("turn-coverage").value == pytest.approx(5 / 6)
