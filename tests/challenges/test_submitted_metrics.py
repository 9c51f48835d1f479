"""Metrics whose scores were handed in, beside the built-in ones: the same statistics, coverage,
nothing filled in.

The corpora and their correlations are those of ``tests/leaderboard``: ``length`` counts a
response's characters.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, transaction

from annotations.corpora.queries import select_systems
from annotations.corpora.rating_queries import turn_order
from annotations.models import CorpusVersion
from common.estimates import Undefined
from leaderboard.actions import (
    Described,
    NameTaken,
    store_submitted_metric,
    withdraw_submitted_metric,
)
from leaderboard.answers import Submission
from leaderboard.answers.metrics import CorrelationRow, MetricCorrelations
from leaderboard.models import SubmittedMetric
from leaderboard.pages.metrics.plots import scatter_figures
from leaderboard.pages.metrics.tables import metric_board
from leaderboard.pages.systems.tables import system_board
from leaderboard.queries import compared_scores, meta_evaluation, metric_scores, system_standing
from tests.leaderboard.conftest import FOUR_RESPONSES, Rated, odd_metrics, rated  # noqa: F401 (fixtures)

pytestmark = pytest.mark.django_db

TWO_DIALOGUES = {
    ("d0", 0, "echo"): (1, 1),
    ("d0", 1, "echo"): (3, 3),
    ("d1", 0, "echo"): (4, 2),
    ("d0", 0, "dull"): (2, 4),
    ("d0", 1, "dull"): (2, 8),
    ("d1", 0, "dull"): (5, 9),
    ("d0", 0, "wild"): (3, 5),
    ("d0", 1, "wild"): (1, 7),
    ("d1", 0, "wild"): (2, 6),
}


def hand_in(
    version: CorpusVersion,
    scores: dict[str, list[float | None]],
    level: str = "turn",
    **described: Any,
) -> SubmittedMetric:
    owner, _ = get_user_model().objects.get_or_create(username="ann")
    place = {system.name: system.pk for system in version.systems.all()}
    with transaction.atomic():
        metric = store_submitted_metric(
            version,
            owner,
            Described(**{"name": "mine", "level": level, **described}),
            "ab" * 32,
            {place[name]: given for name, given in scores.items()},
        )
    version.refresh_from_db()
    return metric


def lengths(places: dict[tuple[str, int, str], tuple[float, int]]) -> dict[str, list[float | None]]:
    """The scores of ``length`` in the order of the version's turns; None where a system gave no
    response."""
    turns = sorted({(dialogue, turn) for dialogue, turn, _ in places})
    systems = dict.fromkeys(system for _, _, system in places)
    return {
        system: [
            float(places[(*turn, system)][1]) if (*turn, system) in places else None
            for turn in turns
        ]
        for system in systems
    }


def rows_of(document: MetricCorrelations, metric: str) -> dict[str, CorrelationRow]:
    return {row.level: row for row in document.rows if row.metric == metric}


def statistics(row: CorrelationRow) -> CorrelationRow:
    """All that says how the metric agrees with people, nothing of whose it is."""
    return replace(row, metric="", signature="", submitted=None)


# --- the same statistics --------------------------------------------------------------------------


@pytest.mark.parametrize("places", [FOUR_RESPONSES, TWO_DIALOGUES])
def test_a_built_in_metrics_own_scores_give_its_own_correlations_and_intervals(
    rated: Rated,  # noqa: F811
    places,
) -> None:
    version = rated(places)
    hand_in(version, lengths(places))
    document = meta_evaluation(version, "overall", resamples=200, seed=7)
    ours, theirs = rows_of(document, "length"), rows_of(document, "mine")
    assert list(ours) == list(theirs) == ["turn", "dialogue", "system"]
    for level, row in ours.items():
        assert statistics(theirs[level]) == statistics(row)
    assert ours["turn"].pearson.value is not None


def test_system_means_are_the_built_in_ones(rated: Rated) -> None:  # noqa: F811
    version = rated(TWO_DIALOGUES)
    hand_in(version, lengths(TWO_DIALOGUES))
    for system in system_standing(version, "overall", resamples=10).systems:
        built_in, handed_in = system.scores
        assert handed_in == built_in


def test_scores_of_dialogues_that_are_means_over_turns_give_the_correlations_of_the_turns(
    rated: Rated,  # noqa: F811
) -> None:
    # echo: d0 (1 + 3) / 2, d1 2; dull: d0 (4 + 8) / 2, d1 9; wild: d0 (5 + 7) / 2, d1 6.
    version = rated(TWO_DIALOGUES)
    hand_in(version, {"echo": [2, 2], "dull": [6, 9], "wild": [6, 6]}, "dialogue")
    document = meta_evaluation(version, "overall", resamples=200)
    ours, theirs = rows_of(document, "length"), rows_of(document, "mine")
    assert list(theirs) == ["dialogue", "system"]
    assert statistics(theirs["dialogue"]) == statistics(ours["dialogue"])


def test_the_system_score_of_dialogue_scores_is_their_mean(rated: Rated) -> None:  # noqa: F811
    # People: echo (1 + 3 + 4) / 3 = 8/3, dull 9/3, wild 6/3. The metric: 2, 7.5, 6. Deviations of
    # people 1/9, 4/9, −5/9 (the mean is 23/9), of the metric −19/6, 14/6, 5/6 (31/6): r = (−19 + 56
    # − 25) / √(42 · (361 + 196 + 25)).
    version = rated(TWO_DIALOGUES)
    hand_in(version, {"echo": [2, 2], "dull": [6, 9], "wild": [6, 6]}, "dialogue")
    row = rows_of(meta_evaluation(version, "overall", ["system"], resamples=0), "mine")["system"]
    assert row.pearson.value == pytest.approx(12 / (42 * 582) ** 0.5)
    assert (row.n, row.coverage) == (3, 1.0)


def test_scores_of_systems_exist_at_system_level_alone(rated: Rated) -> None:  # noqa: F811
    version = rated(TWO_DIALOGUES)
    hand_in(version, {"echo": [2], "dull": [3], "wild": [1]}, "system")
    found = rows_of(meta_evaluation(version, "overall", resamples=100), "mine")
    assert list(found) == ["system"]  # people: 8/3, 3, 2, the same order
    assert found["system"].spearman.value == pytest.approx(1.0)
    assert "fixed" in found["system"].note


# --- coverage -------------------------------------------------------------------------------------


def test_a_turn_without_a_score_is_missing_and_not_filled_in(rated: Rated) -> None:  # noqa: F811
    # Human 1, 2, 3 beside 1, 3, 2; the fourth response, rated 4, has no score: r = 1/2 over n = 3
    # of 4.
    version = rated(FOUR_RESPONSES)
    hand_in(version, {"echo": [1, 3, 2], "dull": [None, None, None]})
    row = rows_of(meta_evaluation(version, "overall", ["turn"], resamples=0), "mine")["turn"]
    assert row.pearson.value == pytest.approx(0.5)
    assert (row.n, row.coverage) == (3, 0.75)


def test_a_system_that_the_file_leaves_out_has_no_score_and_says_why(rated: Rated) -> None:  # noqa: F811
    version = rated(FOUR_RESPONSES)
    hand_in(version, {"echo": [1, 3, 2]})
    dull = system_standing(version, "overall", resamples=10).systems[1]
    reason = "the file that was submitted has no score for this system"
    assert dull.scores[1] == Undefined(reason)


def test_dialogues_without_a_score_are_counted_as_such(rated: Rated) -> None:  # noqa: F811
    version = rated(TWO_DIALOGUES)
    hand_in(version, {"echo": [2, None], "dull": [6, 9], "wild": [6, 6]}, "dialogue")
    found = rows_of(meta_evaluation(version, "overall", resamples=0), "mine")
    assert (found["dialogue"].n, found["dialogue"].coverage) == (5, pytest.approx(5 / 6))
    assert found["system"].note == "1 of 6 dialogues have no score and are left out of the means"


def test_a_constant_is_undefined_with_its_reason(rated: Rated) -> None:  # noqa: F811
    version = rated(FOUR_RESPONSES)
    hand_in(version, {"echo": [1, 1, 1], "dull": [1, None, None]})
    row = rows_of(meta_evaluation(version, "overall", ["turn"], resamples=0), "mine")["turn"]
    assert row.pearson.value is None
    assert row.pearson.reason


def test_a_withheld_system_stays_withheld(rated: Rated) -> None:  # noqa: F811
    version = rated(FOUR_RESPONSES)
    hand_in(version, lengths(FOUR_RESPONSES))
    version.systems.filter(name="dull").update(withheld=True)
    assert [one.name for one in select_systems(version)] == ["echo"]
    row = rows_of(meta_evaluation(version, "overall", ["turn"], resamples=0), "mine")["turn"]
    assert row.n == 3


# --- where it stands ------------------------------------------------------------------------------


def test_it_stands_after_the_built_in_metrics_and_leaves_them_as_they_are(rated: Rated) -> None:  # noqa: F811
    version = rated(FOUR_RESPONSES)
    systems, order = select_systems(version), turn_order(version)
    before = metric_scores(systems, len(order.turn_pks))
    hand_in(version, {"echo": [1], "dull": [2]}, "system")
    after = compared_scores(version, systems, order)
    assert after.texts == ("length", "mine")
    # NaN is not NaN
    assert (after.turn[0] == before.turn[0]).tolist() == [[True, True, True], [True, False, False]]


def test_the_signature_names_the_file_and_its_sender(rated: Rated) -> None:  # noqa: F811
    version = rated(FOUR_RESPONSES)
    hand_in(version, lengths(FOUR_RESPONSES), link="https://example.org/mine")
    row = rows_of(meta_evaluation(version, "overall", ["turn"], resamples=10, seed=3), "mine")[
        "turn"
    ]
    assert row.signature == (
        f"metric:mine|submitted_by:ann|scores_of:turns|file_sha256:{'ab' * 32}|corpus:small|"
        f"corpus_version:{version.label}|aspect:overall|systems:all|design:partly-crossed|"
        "level:turn|n:4|ci:jackknife-t95-over-dialogues|"
        "resamples:10|seed:3"
    )
    assert row.submitted == Submission(
        by="ann", level="turn", link="https://example.org/mine", file_sha256="ab" * 32
    )


def test_the_board_marks_it_and_a_distance_is_read_downwards(rated: Rated) -> None:  # noqa: F811
    version = rated(FOUR_RESPONSES)
    metric = hand_in(version, lengths(FOUR_RESPONSES), higher_is_better=False)
    document = meta_evaluation(version, "overall", resamples=0)
    row = next(
        row for row in metric_board(document, metric.created_at).rows if row.id == "metric-mine"
    )
    assert row.badges == ("submitted", "lower is better")
    assert "submitted by ann" in row.cell("metric").note
    column = system_board(
        system_standing(version, "overall", resamples=10), metric.created_at
    ).column("metric-mine")
    assert column is not None
    assert (column.label, column.higher_is_better) == ("mine (submitted)", False)


@pytest.mark.parametrize(
    ("level", "drawn"),
    [
        ("turn", ["scatter-turn", "scatter-dialogue", "scatter-system", "by-human"]),
        ("dialogue", ["scatter-dialogue", "scatter-system", "by-human"]),
        ("system", ["scatter-system"]),
    ],
)
def test_its_plots_are_drawn_at_the_levels_that_it_has(
    rated: Rated,  # noqa: F811
    level: str,
    drawn: list[str],
) -> None:
    version = rated(TWO_DIALOGUES)
    size = {"turn": 3, "dialogue": 2, "system": 1}[level]
    hand_in(
        version,
        {name: [float(n + size) for n in range(size)] for name in ("echo", "dull", "wild")},
        level,
    )
    document = meta_evaluation(version, "overall", resamples=10)
    standing = system_standing(version, "overall", resamples=10)
    figures = scatter_figures(version, "overall", "mine", document, standing)
    assert [figure.id for figure in figures] == drawn
    assert all(figure.points.rows for figure in figures)


def test_the_leaderboard_shows_it(rated: Rated, client) -> None:  # noqa: F811
    version = rated(FOUR_RESPONSES)
    hand_in(version, lengths(FOUR_RESPONSES))
    page = client.get("/corpora/small/metrics/?metric=mine").content.decode()
    assert "submitted" in page
    assert client.get("/corpora/small/metrics/plots/?metric=mine").status_code == 200


# --- the command ----------------------------------------------------------------------------------


def test_the_command_names_it_and_its_sender_in_every_format(rated: Rated, capsys) -> None:  # noqa: F811
    hand_in(rated(FOUR_RESPONSES), lengths(FOUR_RESPONSES))
    capsys.readouterr()

    def printed(form: str) -> str:
        call_command("correlate", corpus="small", metrics="mine", resamples=10, format=form)
        return capsys.readouterr().out

    assert [row["submitted"]["by"] for row in json.loads(printed("json"))["rows"]] == ["ann"] * 3
    assert [row["submitted_by"] for row in csv.DictReader(io.StringIO(printed("csv")))] == [
        "ann"
    ] * 3
    assert "mine$^*$ &" in printed("latex")
    assert "mine (by ann)" in printed("table")


def test_the_command_refuses_a_name_that_nobody_handed_in(rated: Rated) -> None:  # noqa: F811
    rated(FOUR_RESPONSES)
    with pytest.raises(CommandError, match='unknown metric "mine"'):
        call_command("correlate", corpus="small", metrics="mine")


# --- names and withdrawal -------------------------------------------------------------------------


def test_a_name_is_there_once_in_whatever_case(rated: Rated) -> None:  # noqa: F811
    version = rated(FOUR_RESPONSES)
    hand_in(version, {"echo": [1]}, "system")
    with pytest.raises(NameTaken):
        hand_in(version, {"echo": [2]}, "system", name="MINE")
    assert SubmittedMetric.objects.count() == 1


def test_a_withdrawn_metric_leaves_the_boards_and_frees_its_name(rated: Rated) -> None:  # noqa: F811
    version = rated(FOUR_RESPONSES)
    metric = hand_in(version, {"echo": [1], "dull": [2]}, "system")
    before = version.revision
    assert withdraw_submitted_metric(metric, "computed on another corpus")
    assert not withdraw_submitted_metric(metric, "again")
    version.refresh_from_db()
    assert version.revision == before + 1
    assert rows_of(meta_evaluation(version, "overall", resamples=0), "mine") == {}
    metric.refresh_from_db()
    assert (metric.withdrawal, metric.scores.count()) == ("computed on another corpus", 2)
    hand_in(version, {"echo": [3]}, "system")


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501, "a\0b"])
def test_a_withdrawal_needs_a_reason_that_can_be_stored(rated: Rated, reason: str) -> None:  # noqa: F811
    metric = hand_in(rated(FOUR_RESPONSES), {"echo": [1]}, "system")
    with pytest.raises(ValueError, match="the reason"):
        withdraw_submitted_metric(metric, reason)
    metric.refresh_from_db()
    assert metric.withdrawn_at is None


def test_the_database_refuses_a_withdrawal_without_a_reason(rated: Rated) -> None:  # noqa: F811
    metric = hand_in(rated(FOUR_RESPONSES), {"echo": [1]}, "system")
    metric.withdrawn_at = metric.created_at
    with pytest.raises(IntegrityError), transaction.atomic():
        metric.save()


def test_a_metric_that_is_built_in_later_keeps_its_name_apart_from_the_submitted_one(
    rated: Rated,  # noqa: F811
) -> None:
    version = rated(FOUR_RESPONSES)
    # No form lets it in; a new release may bring it
    hand_in(version, lengths(FOUR_RESPONSES), name="length")
    document = meta_evaluation(version, "overall", ["turn"], resamples=0)
    assert [row.metric for row in document.rows] == ["length", "length (submitted)"]
