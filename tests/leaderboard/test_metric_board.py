"""The metric leaderboard from documents made by hand: what it says, shows, leaves out and marks."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest

from common.tables.to_csv import table_to_csv
from common.tables.to_html import table_to_html
from common.tables.to_json import table_to_json
from common.tables.to_latex import table_to_latex
from common.tables.to_markdown import table_to_markdown
from leaderboard.answers.metrics import MetricComparisons, MetricCorrelations
from leaderboard.pages.metrics.filters import (
    BoardParams,
    UnknownParam,
    filtered,
    method_of,
    parse_params,
)
from leaderboard.pages.metrics.letters import letters_by_metric, why_no_letters
from leaderboard.pages.metrics.plots import forest_figure
from leaderboard.pages.metrics.tables import metric_board, shown_columns
from leaderboard.pages.metrics.text import headline, tied_with_best
from tests.leaderboard.written_answers import comparisons_from, correlations_from

SENT = {"by": "x", "level": "turn", "link": "", "file_sha256": "0"}
HOSTILE = "<script>alert(1)</script>=1+1\u202e\"'"


def estimate(value: float | None, low: float = 0.0, high: float = 0.0) -> dict[str, Any]:
    return (
        {"value": None, "reason": "all scores are equal"}
        if value is None
        else {"value": value, "ci": [low, high]}
    )


def row(
    metric: str, level: str, r: float | None, higher: bool = True, **more: Any
) -> dict[str, Any]:
    numbers = {
        name: estimate(r, (r or 0) - 0.1, (r or 0) + 0.1)
        for name in ("pearson", "spearman", "kendall")
    }
    return {
        "metric": metric,
        "signature": f"metric:{metric}|level:{level}|n:9",
        "level": level,
        "n": 9,
        "coverage": 1.0,
        "higher_is_better": higher,
        **(numbers | more),
    }


def document(*rows: dict[str, Any], **more: Any) -> MetricCorrelations:
    one_rater = {"pearson": 0.7, "spearman": 0.6, "kendall": 0.5, "ci": {"pearson": [0.6, 0.8]}}
    no_tau = {"value": None, "reason": "there is none for τ"}
    ceiling = {"pearson": 0.91, "spearman": 0.9, "kendall": no_tau, "ci": {"pearson": [0.85, 0.95]}}
    reliability = {"pearson": 0.83, "spearman": 0.81, "kendall": no_tau}
    levels = ("turn", "dialogue", "system")
    people = {
        "correlation_ceiling": dict.fromkeys(levels, ceiling),
        "reliability": dict.fromkeys(levels, reliability),
        "leave_one_out_agreement": dict.fromkeys(levels, one_rater),
    }
    return correlations_from(rows=rows, **(people | more))


def comparisons(
    metrics: list[str], pairs: list[list[Any]], groups: dict[str, list[int]]
) -> MetricComparisons:
    return comparisons_from(
        metrics,
        {"pearson": {"pairs": pairs, "groups": groups}},
        not_compared={"kendall": "it is too dear"},
    )


BOARD = document(
    row("bleu_4", "turn", 0.3), row("fbd", "system", -0.9, higher=False),
    row("simcse", "turn", 0.45), row("pmi", "turn", 0.2), row("bleu_4", "system", 0.8),
)  # fmt: skip
TESTED = comparisons(
    ["bleu_4", "simcse", "pmi"],
    [
        [0, 1, -0.15, 0.02, 0.2, 0.1, 99],
        [0, 2, 0.1, 0.3, 0.3, 0.3, 99],
        [1, 2, 0.25, 0.001, 0.003, 0.003, 99],
    ],
    {"bleu_4": [0, 1], "simcse": [0], "pmi": [1]},
)


# --- what it says ---------------------------------------------------------------------------------


def test_the_headline_names_the_best_who_is_level_with_it_and_how_far_people_agree() -> None:
    letters = letters_by_metric(TESTED, "pearson")
    first, more = headline(BOARD, BoardParams(), letters)
    assert (
        first == "simcse correlates best with human ratings at turn level: r = 0.45 [0.35, 0.55]."
    )
    assert more == (
        "bleu_4 is not significantly different. A perfect metric could reach r = 0.91 [0.85, "
        "0.95]. A single rater correlates at r = 0.70 with the other raters."
    )


def test_a_distance_is_best_where_it_is_most_negative() -> None:
    first, _ = headline(BOARD, BoardParams(level="system"), None)
    assert first.startswith("fbd correlates best with human ratings at system level: r = −0.90")
    assert "lower is better" in first


def test_a_headline_whose_interval_includes_0_says_so() -> None:
    """0.09 ± 0.1: [−0.01, 0.19] includes 0; 0.11 ± 0.1 does not."""
    first, _ = headline(document(row("bleu_4", "turn", 0.09)), BoardParams(), None)
    assert first.endswith("r = 0.09 [−0.01, 0.19]; the interval includes 0.")
    first, _ = headline(document(row("bleu_4", "turn", 0.11)), BoardParams(), None)
    assert first.endswith("r = 0.11 [0.01, 0.21].")


def test_where_the_best_goes_against_people_it_is_not_praised() -> None:
    first, _ = headline(
        document(row("bleu_4", "turn", -0.1), row("fbd", "turn", 0.2, higher=False)),
        BoardParams(),
        None,
    )
    assert first.startswith(
        "No metric correlates positively with human ratings at turn level: the best is bleu_4"
    )


def test_a_metric_alone_and_one_that_all_are_behind() -> None:
    assert (
        "No other is computed"
        in headline(document(row("bleu_4", "turn", 0.1)), BoardParams(), None)[1]
    )
    behind = comparisons(["a", "b"], [[0, 1, 0.3, 0.0, 0.01, 0.01, 99]], {"a": [0], "b": [1]})
    two = document(row("a", "turn", 0.5), row("b", "turn", 0.1))
    assert headline(two, BoardParams(), letters_by_metric(behind, "pearson"))[1].startswith(
        "b is significantly behind it."
    )


def test_a_metric_that_is_ahead_of_the_best_on_what_both_scored_is_named() -> None:
    turned = comparisons(["a", "b"], [[0, 1, -0.3, 0.0, 0.01, 0.01, 99]], {"a": [0], "b": [1]})
    two = document(row("a", "turn", 0.5), row("b", "turn", 0.4))
    said = headline(two, BoardParams(), letters_by_metric(turned, "pearson"))[1]
    assert said.startswith("On what both scored b is significantly ahead of it.")


def test_without_any_coefficient_it_says_why() -> None:
    first, more = headline(document(row("bleu_4", "turn", None)), BoardParams(), None)
    assert (first, more) == ("", "No metric has a coefficient at turn level: all scores are equal.")
    assert (
        headline(document(), BoardParams(), None)[1]
        == "No metric has scores beside human ones at turn level."
    )


def test_without_raters_the_headline_says_that_the_ceiling_is_not_known() -> None:
    nothing = {"value": None, "reason": "the corpus holds mean scores, not raters"}
    unknown = {"turn": dict.fromkeys(("pearson", "spearman", "kendall"), nothing)}
    people = ("correlation_ceiling", "reliability", "leave_one_out_agreement")
    board = document(row("bleu_4", "turn", 0.3), **dict.fromkeys(people, unknown))
    assert (
        "is not known: the corpus holds mean scores, not raters."
        in headline(board, BoardParams(), None)[1]
    )


# --- what is marked -------------------------------------------------------------------------------


def test_letters_and_tied_with_the_best_come_from_the_same_tests() -> None:
    letters = letters_by_metric(TESTED, "pearson")
    table = metric_board(
        BOARD, None, BoardParams(), letters, "", tied_with_best(BOARD, BoardParams(), letters)
    )
    by_name = {one.id: one for one in table.rows}
    assert by_name["metric-simcse"].cell("turn-pearson").letters == "a"
    assert by_name["metric-bleu_4"].cell("turn-pearson").letters == "ab"
    assert by_name["metric-pmi"].cell("turn-pearson").letters == "b"
    assert by_name["metric-bleu_4"].cell("turn-spearman").letters == ""
    assert [one.id for one in table.rows if "tied with the best" in one.badges] == ["metric-bleu_4"]


def test_of_ten_letters_and_more_only_tied_with_the_best_is_shown() -> None:
    names = [f"m{number}" for number in range(10)]
    many = comparisons(
        names, [[0, 1, 0.3, 0.0, 0.01, 0.01, 99]], {name: [k] for k, name in enumerate(names)}
    )
    letters = letters_by_metric(many, "pearson")
    assert letters is not None
    assert letters.of("m0") == ""
    assert letters.tied_with("m0", names[1:]) == []


def test_a_coefficient_that_was_not_tested_has_no_letters_and_says_so() -> None:
    assert letters_by_metric(TESTED, "kendall") is None
    assert letters_by_metric(None, "pearson") is None
    assert why_no_letters(None, "kendall") == ""
    table = metric_board(
        BOARD, None, BoardParams(coefficient="kendall"), None, why_no_letters(TESTED, "kendall")
    )
    assert any(
        "No letters on Kendall's τ-b at turn level: it is too dear." in note for note in table.notes
    )


def test_pairs_that_could_not_be_tested_tell_nothing() -> None:
    untested = comparisons(["a", "b"], [[0, 1, None, None, None, None, 0]], {"a": [0], "b": [0]})
    assert letters_by_metric(untested, "pearson") is None


def test_the_strongest_of_a_column_is_best_in_its_own_direction() -> None:
    cells = {one.id: one.cell("system-pearson").best for one in metric_board(BOARD, None).rows}
    assert cells["metric-fbd"]
    assert not cells["metric-bleu_4"]


# --- what it shows --------------------------------------------------------------------------------


def test_variants_take_the_place_of_the_coefficients() -> None:
    within = {
        "per_dialogue": {
            "pearson": estimate(0.12, 0.1, 0.2),
            "spearman": estimate(None),
            "kendall": estimate(None),
            "groups": 5,
            "defined": {"pearson": 3, "spearman": 0, "kendall": 0},
        }
    }
    board = document(
        row("bleu_4", "turn", 0.3, **within), row("bleu_4", "system", 0.8), row("pmi", "turn", 0.2)
    )
    wish = BoardParams(variant="per_dialogue")
    (found, without, *ceilings) = metric_board(board, None, wish).rows
    assert found.cell("turn-pearson").value == 0.12
    assert "of the 3 of 5 in which it is defined" in found.cell("turn-pearson").note
    assert "not computed within each dialogue" in without.cell("turn-pearson").reason
    # A system has no dialogues to average over there
    assert found.cell("system-pearson").value == 0.8
    assert "does not compare" in ceilings[0].cell("turn-pearson").reason
    assert "r = 0.12 [0.10, 0.20], within each dialogue, averaged" in headline(board, wish, None)[0]


def test_raters_without_names_have_a_ceiling_and_no_agreement_of_one_rater() -> None:
    nothing = {"value": None, "reason": "raters are anonymous"}
    unknown = {"turn": dict.fromkeys(("pearson", "spearman", "kendall"), nothing)}
    board = document(row("bleu_4", "turn", 0.3), leave_one_out_agreement=unknown)
    said = headline(board, BoardParams(), None)[1]
    assert "A perfect metric could reach r = 0.91 [0.85, 0.95]." in said
    assert "single rater" not in said
    figure = forest_figure(board, BoardParams(), None)
    assert [one["text"] for one in figure.layout["annotations"]] == ["ceiling (√reliability) 0.91"]


def test_corrected_coefficients_say_what_they_are() -> None:
    corrected = {
        "attenuation_corrected": {
            "pearson": estimate(1.04, 0.9, 1.2),
            "spearman": estimate(None),
            "kendall": estimate(None),
        }
    }
    wish = BoardParams(variant="attenuation_corrected")
    table = metric_board(document(row("bleu_4", "turn", 0.3, **corrected)), None, wish)
    assert table.rows[0].cell("turn-pearson").value == 1.04
    column = table.column("turn-pearson")
    assert column is not None
    assert "reliability of the human scores" in column.help


def test_the_ceiling_is_the_root_of_the_reliability_and_one_rater_s_agreement_is_called_by_its_name() -> (
    None
):
    table = metric_board(document(row("bleu_4", "turn", 0.3)), None)
    people = [one for one in table.rows if "people" in one.badges]
    assert [one.cell("metric").value for one in people] == [
        "human ceiling",
        "reliability of the mean rating",
        "single rater with the others",
    ]
    ceiling, reliability, one_rater = people
    assert (ceiling.cell("turn-pearson").value, ceiling.cell("turn-pearson").ci) == (
        0.91,
        (0.85, 0.95),
    )
    assert reliability.cell("turn-pearson").value == 0.83
    assert (one_rater.cell("turn-pearson").value, one_rater.cell("turn-pearson").ci) == (
        0.7,
        (0.6, 0.8),
    )
    assert ceiling.cell("turn-kendall").reason == "there is none for τ"
    assert not any(one.cell("turn-pearson").best or one.pick for one in people)


def test_accuracies_and_costs_have_columns_where_they_are_known() -> None:
    cost = {
        "seconds_per_1000": {"value": 1.5},
        "tokens_per_1000": {"value": None, "reason": "it asks no language model"},
        "usd_per_1000": {"value": None, "reason": "it asks no language model"},
        "device": "cpu",
        "responses": 10,
    }
    ties = estimate(0.6, 0.5, 0.7) | {"epsilon": 0.05, "groups": 9, "pairs": 9}
    board = document(
        row("bleu_4", "turn", 0.3, tie_calibrated_accuracy=ties), cost={"bleu_4": cost}
    )
    table = metric_board(board, None)
    found = table.rows[0]
    assert found.cell("turn-tie_calibrated_accuracy").value == 0.6
    assert "0.05" in found.cell("turn-tie_calibrated_accuracy").note
    assert (found.cell("seconds_per_1000").value, found.cell("device").value) == (1.5, "cpu")
    assert found.cell("usd_per_1000").reason == "it asks no language model"
    shown = shown_columns(table, BoardParams(), board)
    assert "seconds_per_1000" in shown
    assert "usd_per_1000" not in shown
    assert metric_board(BOARD, None).column("turn-tie_calibrated_accuracy") is None


def test_the_forest_turns_a_distance_round_and_draws_the_ceiling() -> None:
    figure = forest_figure(BOARD, BoardParams(level="system"), None)
    drawn = {trace["name"]: trace["x"][0] for trace in figure.data}
    assert drawn == {"fbd (turned round)": 0.9, "bleu_4": 0.8}
    turned = next(trace for trace in figure.data if trace["name"].startswith("fbd"))
    assert turned["error_x"]["array"][0] == pytest.approx(0.1)
    assert "the sign is turned round" in figure.caption
    labels = [str(one.get("text")) for one in figure.layout["annotations"]]
    assert [one for one in labels if "ceiling" in one] == ["ceiling (√reliability) 0.91"]
    assert "one rater (leave-one-out) 0.70" in labels
    assert (
        "highest correlation that a perfect metric could reach, 95 % interval 0.85 to 0.95."
        in figure.caption
    )
    assert forest_figure(document(), BoardParams(), None).is_empty


def test_a_dot_of_the_forest_leads_to_its_metric() -> None:
    figure = forest_figure(document(row("bleu_4[n=2]", "turn", 0.3)), BoardParams(), None)
    assert figure.data[0]["customdata"] == ["metrics/?metric=bleu_4%5Bn%3D2%5D#plots"]


def test_a_search_is_part_of_a_name_in_any_case() -> None:
    board = document(row("bleu_4", "turn", 0.3), row("simcse", "turn", 0.4))
    found = filtered(board, parse_params({"q": " BLEU "}, "all", board))
    assert [one.metric for one in found.rows] == ["bleu_4"]


def test_a_permanent_link_names_what_differs_from_the_default() -> None:
    params = parse_params({"coefficient": "kendall", "q": "bleu"}, "all", BOARD)
    assert params.changes() == {
        "level": "turn",
        "coefficient": "kendall",
        "systems": "all",
        "q": "bleu",
    }


def test_a_hostile_name_is_text_in_figure_and_table() -> None:
    board = document(
        row(
            HOSTILE,
            "turn",
            0.3,
            submitted=SENT,
        )
    )
    figure = forest_figure(board, BoardParams(), None)
    assert "<script" not in str(figure.data) + str(figure.layout)
    assert HOSTILE in headline(board, BoardParams(), None)[0]  # the template escapes it
    assert metric_board(board, None).rows[0].pick == HOSTILE


# --- what is left out -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wish", "left"),
    [
        ({"needs": "reference-free"}, {"pmi", "cpdscore_simple"}),
        ({"needs": "reference"}, {"bleu_4", "simcse", "bleurt"}),
        ({"needs": "human-corpus"}, {"fbd"}),
        ({"needs": "persona"}, set()),
        ({"method": "lexical"}, {"bleu_4"}),
        ({"method": "judge"}, {"cpdscore_simple"}),
        ({"method": "trained"}, {"bleurt"}),
        ({"method": "distribution"}, {"fbd"}),
        ({"origin": "submitted"}, {"mine"}),
        ({"origin": "ours", "method": "embedding"}, {"simcse"}),
    ],
)
def test_filters_leave_what_fits(wish: dict[str, str], left: set[str]) -> None:
    names = ["bleu_4", "simcse", "bleurt", "pmi", "fbd", "cpdscore_simple"]
    board = document(
        *(row(name, "system", 0.1) for name in names),
        row("mine", "system", 0.1, submitted=SENT),
    )
    assert {one.metric for one in filtered(board, BoardParams(**wish)).rows} == left


def test_a_metric_that_is_not_installed_any_more_has_no_known_method() -> None:
    assert method_of("gone[a=1]") == "unknown"
    (gone,) = document(row("gone[a=1]", "turn", 0.1)).rows
    assert not BoardParams(needs="reference-free").keeps(gone)


@pytest.mark.parametrize(
    ("configuration", "method"),
    [
        ("density[trained=daily]", "trained"),
        ("density_euclidean[trained=daily]", "trained"),
        ("density_dialogue[trained=daily]", "trained"),
        ("cmn_no_mi[trained=daily]", "trained"),
        ("bert_ruber[trained=daily]", "trained"),
        ("usr_retrieval[trained=daily]", "trained"),
        ("maude_style[trained=daily]", "trained"),
        ("simcse", "embedding"),
    ],
)
def test_what_a_model_trained_here_scores_is_of_the_method_trained(
    configuration: str, method: str
) -> None:
    assert method_of(configuration) == method


def test_an_address_is_read_and_what_it_cannot_mean_is_said() -> None:
    wish = parse_params({"level": "system", "coefficient": "kendall"}, "without-gold")
    assert (wish.column, wish.systems, wish.filters) == ("system-kendall", "without-gold", False)
    for unknown in ({"level": "word"}, {"variant": "best"}, {"needs": "luck"}):
        with pytest.raises(UnknownParam, match="is none of"):
            parse_params(unknown, "all")


def test_without_a_level_it_is_the_first_that_has_a_value() -> None:
    board = document(row("bleu_4", "turn", None), row("bleu_4", "system", 0.4))
    assert parse_params({}, "all", board).level == "system"
    assert parse_params({}, "all", document()).level == "turn"


# --- what an interval speaks of -------------------------------------------------------------------


FIVE = "these 5 systems, new dialogues"


def test_the_cell_of_systems_says_what_its_interval_speaks_of_on_the_page_and_in_every_file() -> (
    None
):
    board = document(row("bleu_4", "system", 0.97, generalises_to=FIVE), row("bleu_4", "turn", 0.3))
    table = metric_board(board, None, BoardParams(level="system"))
    found = table.rows[0]
    assert found.cell("system-pearson").generalises_to == FIVE
    assert found.cell("turn-pearson").generalises_to == ""
    assert f'<span class="scope">{FIVE}</span>' in table_to_html(table)
    assert f"({FIVE})" in table_to_markdown(table)
    assert FIVE in table_to_latex(table)
    assert FIVE in table_to_json(table)
    header, first, *_ = list(csv.reader(table_to_csv(table).splitlines()))
    assert first[header.index("system-pearson_generalises_to")] == FIVE
    assert (
        f"r = 0.97 [0.87, 1.07] for {FIVE}."
        in headline(board, BoardParams(level="system"), None)[0]
    )
    assert (
        f"Intervals speak of {FIVE}."
        in forest_figure(board, BoardParams(level="system"), None).caption
    )


def test_a_cell_without_an_interval_speaks_of_nothing() -> None:
    nothing = {"value": 1.0, "ci": None, "ci_reason": "two systems"}
    board = document(row("bleu_4", "system", 0.9, generalises_to=FIVE, pearson=nothing))
    assert metric_board(board, None).rows[0].cell("system-pearson").generalises_to == ""
    assert FIVE not in headline(board, BoardParams(level="system"), None)[0]


def test_a_cell_of_few_systems_says_why_it_has_no_p_on_the_page_and_in_every_file() -> None:
    why = "with fewer than 6 systems p would speak of these systems only"
    without = {"value": 0.97, "ci": [0.9, 0.99], "p": None, "p_reason": why}
    board = document(row("bleu_4", "system", 0.97, generalises_to=FIVE, pearson=without))
    table = metric_board(board, None, BoardParams(level="system"))
    assert f"no p: {why}" in table_to_html(table)
    assert why in table_to_latex(table)
    found, *_ = json.loads(table_to_json(table))["rows"]
    assert found["cells"]["system-pearson"]["p"] is None
    assert found["cells"]["system-pearson"]["p_reason"] == why
    header, first, *_ = list(csv.reader(table_to_csv(table).splitlines()))
    assert first[header.index("system-pearson_p_reason")] == why


def test_the_interval_of_a_heavy_tailed_metric_is_remarked_in_its_cell_and_beneath_the_figure() -> (
    None
):
    heavy = estimate(0.3, 0.2, 0.4) | {
        "ci_remark": "the metric scores have heavy tails (excess kurtosis 12.0)"
    }
    board = document(row("ppl", "turn", None, pearson=heavy), row("bleu_4", "turn", 0.2))
    first, second, *_ = metric_board(board, None).rows
    assert "heavy tails (excess kurtosis 12.0)" in first.cell("turn-pearson").note
    assert "heavy tails" not in first.cell("turn-spearman").note + second.cell("turn-pearson").note
    assert (
        "interval of r may be too narrow: ppl; that of"
        in forest_figure(board, BoardParams(), None).caption
    )
    assert "heavy" not in forest_figure(board, BoardParams(coefficient="spearman"), None).caption
