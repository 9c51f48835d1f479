"""What runs store beside their scores, as the page of a metric shows it; and the figures of that
page."""

from __future__ import annotations

from typing import Any

import pytest

from leaderboard.pages.metric.figures import MAX_CURVES, score_histogram, system_scores
from leaderboard.pages.metric.tables import detail_figures, detail_tables
from leaderboard.queries import DetailsOf

SIDE = {
    "points": 60,
    "dimensions": 384,
    "w_mean": 0.978,
    "w_sd": 0.01,
    "p_mean": 0.5,
    "p_sd": 0.3,
    "share_normal": 0.9,
}
FEW = {"points": 2, "dimensions": 0, "reason": "fewer than 3 points"}


def of(system: str, place: int, **details: Any) -> DetailsOf:
    return DetailsOf(system, place, 0.9 - place / 100, details)


def curve(system: str, place: int) -> DetailsOf:
    sides = {"precision": [1.0, 0.9, 0.0], "recall": [0.0, 0.8, 1.0]}
    return of(
        system, place, curve=sides, sd_between_seeds=0.004, sd_from="5 seeds", seed_scores=[0.9]
    )


# --- normality ------------------------------------------------------------------------------------


def test_normality_stands_for_people_and_for_every_system() -> None:
    (table,) = detail_tables(
        [of("echo", 0, normality={"system": SIDE, "human": SIDE})], "small", "signature"
    )
    assert [row.cells["side"].value for row in table.rows] == ["people", "echo"]
    assert table.rows[1].cells["w_mean"].value == 0.978
    assert table.rows[1].cells["share_normal"].value == 0.9


def test_normality_that_could_not_be_tested_says_why() -> None:
    (table,) = detail_tables(
        [of("echo", 0, normality={"system": FEW, "human": SIDE})], "small", "signature"
    )
    assert table.rows[1].cells["w_mean"].value is None
    assert table.rows[1].cells["w_mean"].reason == "fewer than 3 points"


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"normality": None},
        {"normality": {"system": SIDE}},
        {"curve": 3},
        {"curve": {"precision": [1.0]}},
        {"other": 1},
    ],
)
def test_details_of_another_kind_are_not_shown(details: dict[str, Any]) -> None:
    """A plug-in's own details, or half of ours: no table, no figure, no error."""
    assert detail_tables([of("echo", 0, **details)], "small", "") == []
    assert detail_figures([of("echo", 0, **details)], "prd", "small", "") == []


# --- precision and recall -------------------------------------------------------------------------


def test_a_curve_is_drawn_with_its_points_and_its_spread_beneath() -> None:
    (figure,) = detail_figures([curve("echo", 0), curve("dull", 1)], "prd", "small", "signature")
    assert [(line["x"], line["y"]) for line in figure.data] == [
        ([0.0, 0.8, 1.0], [1.0, 0.9, 0.0])
    ] * 2
    assert len(figure.points.rows) == 6
    assert [row.cells["spread"].value for row in figure.summary.rows] == [0.004, 0.004]
    assert [row.cells["from"].value for row in figure.summary.rows] == ["5 seeds", "5 seeds"]
    assert len({line["line"]["dash"] for line in figure.data}) == 2, (
        "told apart by more than colour"
    )


def test_of_many_systems_the_best_are_drawn_and_the_caption_says_so() -> None:
    (figure,) = detail_figures(
        [curve(f"s{place}", place) for place in range(20)], "prd", "small", "signature"
    )
    assert [line["name"] for line in figure.data] == [f"s{place}" for place in range(MAX_CURVES)]
    assert f"The best {MAX_CURVES} of 20 are drawn." in figure.caption
    assert len(figure.summary.rows) == 20


# --- the spread of scores -------------------------------------------------------------------------


def test_bars_stand_over_the_middle_of_their_bins() -> None:
    bins = [(0.0, 0.5, 3), (0.5, 1.0, 1)]
    figure = score_histogram(
        bins, figure_id="scores", metric="m", corpus="small", mean=0.25, median=0.2
    )
    (bars,) = figure.data
    assert (bars["x"], bars["y"], bars["width"]) == ([0.25, 0.75], [3, 1], [0.5, 0.5])
    assert figure.layout["shapes"][0]["x0"] == 0.25
    assert "n = 4 responses. Mean 0.250, median 0.200." in figure.caption
    assert [row.cells["share"].value for row in figure.points.rows] == [0.75, 0.25]
    assert "most, 3, lie between 0 and 0.5" in figure.alternative


def test_one_bin_of_no_width_has_a_bar_all_the_same() -> None:
    figure = score_histogram(
        [(0.4, 0.4, 7)], figure_id="scores", metric="m", corpus="small", mean=0.4
    )
    assert "width" not in figure.data[0]
    assert figure.data[0]["y"] == [7]


def test_without_scores_there_is_a_reason_in_the_place_of_a_chart() -> None:
    figure = score_histogram([], figure_id="scores", metric="m", corpus="small")
    assert figure.is_empty
    assert figure.empty_reason == "No response has a score of m on small."


@pytest.mark.parametrize(("higher_is_better", "top"), [(True, "b"), (False, "a")])
def test_the_best_system_stands_on_top_in_the_metric_s_own_direction(
    higher_is_better: bool, top: str
) -> None:
    figure = system_scores(
        [("a", 0, 1.0), ("b", 1, 2.0), ("c", 2, None)],
        figure_id="scores",
        metric="m",
        corpus="small",
        higher_is_better=higher_is_better,
    )
    assert figure.layout["yaxis"]["categoryarray"][-1] == top
    assert "n = 2 systems" in figure.caption
    assert figure.points.rows[2].cells["score"].reason == "the metric has no score for this system"


def test_names_are_escaped_where_plotly_reads_markup() -> None:
    figure = system_scores(
        [("<b>x</b>", 0, 1.0)], figure_id="s", metric="m", corpus="small", higher_is_better=True
    )
    assert figure.layout["yaxis"]["categoryarray"] == ["&lt;b&gt;x&lt;/b&gt;"]
