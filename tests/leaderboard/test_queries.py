"""Human and metric scores brought together at each level, against correlations worked by hand."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from annotations.corpora.queries import NotFound, resolve_aspect, select_systems
from common.tables.arrange import choose_columns
from leaderboard.pages.systems.tables import system_board
from leaderboard.queries import meta_evaluation, rated_levels, system_standing
from tests.leaderboard.conftest import FOUR_RESPONSES, Rated
from workers.metrics.common.configuration import parse
from workers.models import MetricRun

pytestmark = pytest.mark.django_db


def row(document: dict[str, Any], level: str, metric: str = "length") -> dict[str, Any]:
    (found,) = [one for one in document["rows"] if (one["level"], one["metric"]) == (level, metric)]
    return found


def correlations(
    document: dict[str, Any], level: str, metric: str = "length"
) -> tuple[float | None, ...]:
    found = row(document, level, metric)
    return tuple(found[name]["value"] for name in ("pearson", "spearman", "kendall"))


# --- the turn level -------------------------------------------------------------------------------


def test_turn_level_worked_by_hand(rated: Rated) -> None:
    document = meta_evaluation(rated(FOUR_RESPONSES), "overall", ["turn"], resamples=0)
    assert correlations(document, "turn") == pytest.approx((0.8, 0.8, 2 / 3))
    assert (row(document, "turn")["n"], row(document, "turn")["coverage"]) == (4, 1.0)


def test_a_response_that_nobody_rated_does_not_count(rated: Rated) -> None:
    version = rated({**FOUR_RESPONSES, ("d1", 0, "dull"): (None, 99)})
    document = meta_evaluation(version, "overall", ["turn"], resamples=0)
    assert correlations(document, "turn") == pytest.approx((0.8, 0.8, 2 / 3))
    assert row(document, "turn")["coverage"] == 1.0


def test_a_rated_response_without_a_metric_score_lowers_the_coverage(rated: Rated) -> None:
    # short_only is undefined at length 4: three of the four rated responses are left.
    # Human 1, 2, 3 beside 1, 3, 2: r = ρ = 1/2, τ = (2 − 1) / 3.
    version = rated(FOUR_RESPONSES, metrics="short_only")
    document = meta_evaluation(version, "overall", ["turn"], resamples=0)
    assert correlations(document, "turn", "short_only") == pytest.approx((0.5, 0.5, 1 / 3))
    found = row(document, "turn", "short_only")
    assert (found["n"], found["coverage"]) == (3, 0.75)


def test_chosen_systems_leave_the_others_out(rated: Rated) -> None:
    version = rated(FOUR_RESPONSES)
    document = meta_evaluation(
        version, "overall", ["turn"], systems=select_systems(version, ["echo"]), resamples=0
    )
    assert correlations(document, "turn") == pytest.approx((0.5, 0.5, 1 / 3))
    assert document["systems"] == ["echo"]


def test_a_metric_that_is_not_computed_for_a_system_covers_less(rated: Rated) -> None:
    version = rated(FOUR_RESPONSES)
    MetricRun.objects.filter(system__name="dull").delete()
    document = meta_evaluation(version, "overall", ["turn"], resamples=0)
    assert row(document, "turn")["coverage"] == 0.75


def test_a_constant_metric_is_undefined_and_says_so(rated: Rated) -> None:
    document = meta_evaluation(
        rated(FOUR_RESPONSES, metrics="constant"), "overall", ["turn"], resamples=0
    )
    assert correlations(document, "turn", "constant") == (None, None, None)
    assert row(document, "turn", "constant")["pearson"]["reason"] == "all metric scores are equal"


def test_constant_human_scores_are_undefined_and_say_so(rated: Rated) -> None:
    version = rated({place: (3, length) for place, (_, length) in FOUR_RESPONSES.items()})
    document = meta_evaluation(version, "overall", ["turn"], resamples=0)
    assert row(document, "turn")["kendall"] == {
        "value": None,
        "reason": "all human scores are equal",
    }


def test_intervals_are_made_of_whole_dialogues_and_the_seed(rated: Rated) -> None:
    version = rated(FOUR_RESPONSES)
    one, same, other = (
        meta_evaluation(version, "overall", ["turn"], resamples=200, seed=seed)["rows"][0]
        for seed in (1, 1, 2)
    )
    assert one == same
    assert f"resamples:{200}|seed:1" in one["signature"]
    assert one["signature"] != other["signature"]


# --- the dialogue level ---------------------------------------------------------------------------

FOUR_DIALOGUES = {
    ("d0", 0, "echo"): (1, 1),
    ("d0", 1, "echo"): (3, 3),
    ("d1", 0, "echo"): (5, 4),
    ("d1", 1, "echo"): (5, 4),
    ("d0", 0, "dull"): (3, 2),
    ("d0", 1, "dull"): (3, 4),
    ("d1", 0, "dull"): (1, 5),
    ("d1", 1, "dull"): (1, 5),
}
"""Means over turns: human 2, 5, 3, 1; lengths 2, 4, 3, 5 (echo d0, echo d1, dull d0, dull d1)."""


def test_dialogue_level_correlates_means_over_turns(rated: Rated) -> None:
    document = meta_evaluation(rated(FOUR_DIALOGUES), "overall", ["dialogue"], resamples=0)
    # Deviations: human −.75, 2.25, .25, −1.75; length −1.5, .5, −.5, 1.5. Products sum to −0.5,
    # squares to 8.75 and 5. Ranks 2, 4, 3, 1 and 1, 3, 2, 4: Σd² = 12, ρ = 1 − 6·12 / 60. Three
    # pairs of six are turned: τ = 0.
    assert correlations(document, "dialogue") == pytest.approx(
        (-0.5 / (8.75 * 5) ** 0.5, -0.2, 0.0)
    )
    assert row(document, "dialogue")["n"] == 4


def test_ratings_of_whole_dialogues_are_what_the_dialogue_level_means(rated: Rated) -> None:
    # Turn ratings say 2, 5, 3, 1; people who rated the dialogues say exactly what the lengths say:
    # 2, 4, 3, 5.
    whole = {("d0", "echo"): 2, ("d1", "echo"): 4, ("d0", "dull"): 3, ("d1", "dull"): 5}
    version = rated(FOUR_DIALOGUES, whole)
    document = meta_evaluation(version, "overall", ["turn", "dialogue"], resamples=0)
    assert correlations(document, "dialogue") == pytest.approx((1.0, 1.0, 1.0))
    assert row(document, "turn")["n"] == 8
    assert rated_levels(version, "overall") == ["turn", "dialogue"]


def test_where_only_dialogues_are_rated_there_is_no_turn_level(rated: Rated) -> None:
    unrated = {place: (None, length) for place, (_, length) in FOUR_DIALOGUES.items()}
    whole = {("d0", "echo"): 2, ("d1", "echo"): 4, ("d0", "dull"): 3, ("d1", "dull"): 5}
    document = meta_evaluation(rated(unrated, whole), "overall", resamples=0)
    assert {found["level"] for found in document["rows"]} == {"dialogue", "system"}
    for key in ("correlation_ceiling", "reliability", "leave_one_out_agreement"):
        assert document[key]["turn"]["pearson"] == {
            "value": None,
            "reason": "nobody rated at the turn level",
        }


# --- the system level -----------------------------------------------------------------------------


def test_system_level_correlates_means_over_all_turns(rated: Rated) -> None:
    # Human means 1, 2, 3 (1.5 and 2.5 make 2); lengths 1, 3, 2.
    version = rated(
        {
            ("d0", 0, "a"): (1, 1),
            ("d1", 0, "a"): (1, 1),
            ("d0", 0, "b"): (1.5, 2),
            ("d1", 0, "b"): (2.5, 4),
            ("d0", 0, "c"): (3, 2),
            ("d1", 0, "c"): (3, 2),
        }
    )
    document = meta_evaluation(version, "overall", ["system"], resamples=0)
    assert correlations(document, "system") == pytest.approx((0.5, 0.5, 1 / 3))
    assert row(document, "system")["n"] == 3


def test_a_corpus_of_one_system_has_no_system_level_correlation(rated: Rated) -> None:
    one = {place: scores for place, scores in FOUR_RESPONSES.items() if place[2] == "echo"}
    document = meta_evaluation(rated(one), "overall", resamples=10)
    assert correlations(document, "system") == (None, None, None)
    assert row(document, "system")["n"] == 1
    assert row(document, "system")["pearson"]["reason"]
    assert correlations(document, "turn") == pytest.approx((0.5, 0.5, 1 / 3))


# --- little or nothing ----------------------------------------------------------------------------


def test_without_ratings_there_are_no_rows_and_a_ceiling_with_its_reason(rated: Rated) -> None:
    unrated = {place: (None, length) for place, (_, length) in FOUR_RESPONSES.items()}
    version = rated(unrated)
    document = meta_evaluation(version, "overall", resamples=10)
    assert document["rows"] == []
    for level in ("turn", "dialogue", "system"):
        for key in ("correlation_ceiling", "leave_one_out_agreement"):
            assert document[key][level]["pearson"]["value"] is None
            assert "nobody rated" in document[key][level]["pearson"]["reason"]
    assert rated_levels(version, "overall") == []


def test_without_metrics_there_are_no_rows(rated: Rated) -> None:
    version = rated(FOUR_RESPONSES)
    MetricRun.objects.all().delete()
    assert meta_evaluation(version, "overall", resamples=10)["rows"] == []


def test_without_systems_nothing_is_computed_and_nothing_breaks(rated: Rated) -> None:
    document = meta_evaluation(rated(FOUR_RESPONSES), "overall", systems=[], resamples=10)
    assert (document["rows"], document["systems"]) == ([], [])


def test_failed_and_waiting_runs_are_not_correlated(rated: Rated) -> None:
    version = rated(FOUR_RESPONSES)
    MetricRun.objects.update(state="pending")
    assert meta_evaluation(version, "overall", resamples=10)["rows"] == []


def test_runs_of_an_older_metric_version_are_not_correlated(rated: Rated) -> None:
    version = rated(FOUR_RESPONSES)
    MetricRun.objects.update(metric_version="0")
    assert meta_evaluation(version, "overall", resamples=10)["rows"] == []


def test_a_metric_that_is_not_computed_is_named_with_those_that_are(rated: Rated) -> None:
    with pytest.raises(NotFound, match=r"not computed: word_f1\. Computed: length"):
        meta_evaluation(rated(FOUR_RESPONSES), "overall", metrics=[parse("word_f1")])


def test_metrics_come_in_the_order_asked_for(rated: Rated) -> None:
    version = rated(FOUR_RESPONSES, metrics="length,word_f1,bleu_1")
    document = meta_evaluation(
        version, "overall", ["turn"], metrics=[parse("length"), parse("bleu_1")], resamples=0
    )
    assert [found["metric"] for found in document["rows"]] == ["length", "bleu_1"]


# --- systems --------------------------------------------------------------------------------------


def test_a_system_stands_by_its_mean_human_score_with_its_metric_scores(rated: Rated) -> None:
    version = rated(FOUR_RESPONSES)
    document = system_standing(version, resolve_aspect(version, None), resamples=50)
    found = {
        one["system"]: (one["human"]["value"], one["items"], one["scores"])
        for one in document["systems"]
    }
    # (1+2+3)/3 and 4; lengths (1+3+2)/3 and 4
    assert found == {"echo": (2.0, 3, [2.0]), "dull": (4.0, 1, [4.0])}
    assert [metric["metric"] for metric in document["metrics"]] == ["length"]


def test_an_unrated_system_has_no_rank(rated: Rated) -> None:
    version = rated({**FOUR_RESPONSES, ("d0", 0, "new"): (None, 2)})
    (new,) = [
        one
        for one in system_standing(version, "overall", resamples=50)["systems"]
        if one["system"] == "new"
    ]
    assert (new["human"]["value"], new["rank"], new["scores"]) == (None, None, [2.0])
    assert new["human"]["reason"]


def test_a_missing_metric_score_says_whether_it_is_undefined_or_not_computed(rated: Rated) -> None:
    version = rated(FOUR_RESPONSES, metrics="length,shy")
    MetricRun.objects.get(configuration="length", system__name="dull").delete()
    document = system_standing(version, "overall", resamples=50)
    scores = {one["system"]: one["scores"] for one in document["systems"]}
    reason = MetricRun.objects.filter(configuration="shy").values_list("system_reason", flat=True)[
        0
    ]
    assert "it would rather not" in reason
    undefined = {"value": None, "reason": reason}
    assert scores == {
        "echo": [2.0, undefined],
        "dull": [{"value": None, "reason": "not computed for this system"}, undefined],
    }
    board = system_board(document, timezone.now())
    dull = next(row for row in board.rows if row.cell("system").value == "dull")
    told = [dull.cell(key).reason for key in ("metric-length", "metric-shy")]
    assert told == ["not computed for this system", reason]


def test_a_metric_keeps_its_column_whatever_else_is_computed(rated: Rated) -> None:
    version = rated(FOUR_RESPONSES, metrics="rouge_l[normalize=false,stem=true],length")
    board = system_board(system_standing(version, "overall", resamples=50), timezone.now())
    keys = [column.key for column in board.columns if column.group == "metrics"]
    assert sorted(keys) == ["metric-length", "metric-rouge_l[normalize=false;stem=true]"]
    for key in keys:
        assert choose_columns(board, key).columns[-1].key == key
        assert board.rows[0].cell(key).is_defined
