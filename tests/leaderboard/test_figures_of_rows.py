"""Figures with a row for each metric or system: forest plots and rank intervals."""

from __future__ import annotations

import json

import pytest

from common.estimates import Estimate
from leaderboard.figures import Figure, ForestRow, SystemMean, forest
from leaderboard.figures.drawing import places
from leaderboard.pages.fewer_ratings.figures import (
    TwoMeans,
    WidthAt,
    benefit_curve,
    two_intervals,
    width_curve,
)
from leaderboard.pages.metric.figures import system_scores
from leaderboard.pages.raters.figures import RaterRow, scale_use, severity_forest
from leaderboard.pages.systems.figures.rank_intervals import RankRow, rank_intervals
from leaderboard.pages.systems.figures.system_means import system_means

THREE = [
    ForestRow("bleu_4", Estimate(0.1, ci=(0.0, 0.25)), "b", note="12 s per 1,000 responses"),
    ForestRow("usr", Estimate(0.5, ci=(0.4, 0.625)), "a"),
    ForestRow("constant", Estimate.undefined("all scores are equal")),
]


def correlations(rows: list[ForestRow], **more: object) -> Figure:
    return forest(rows, figure_id="f", title="Pearson r", across="r", **more)  # type: ignore[arg-type]


def ranks(rows: list[RankRow]) -> Figure:
    return rank_intervals(rows, figure_id="r")


def test_the_greatest_estimate_stands_on_top_whatever_the_order_given() -> None:
    figure = correlations(THREE)
    assert [(one["name"], one["y"][0]) for one in figure.data] == [("bleu_4", 0), ("usr", 1)]
    assert figure.layout["yaxis"]["ticktext"] == ["bleu_4", "usr"]


def test_an_order_of_their_own_is_kept_from_the_top() -> None:
    figure = correlations(THREE, ordered=False)
    assert [(one["name"], one["y"][0]) for one in figure.data] == [("usr", 0), ("bleu_4", 1)]
    assert figure.points.sort is None


def test_whiskers_reach_the_ends_of_the_interval() -> None:
    whisker = correlations(THREE).data[1]["error_x"]
    assert (whisker["arrayminus"], whisker["array"]) == ([pytest.approx(0.1)], [0.125])


@pytest.mark.parametrize(
    ("intervals", "said"),
    [
        ([(0.0, 0.2), (0.3, 0.5)], "with 95 % interval, n = 2"),
        ([(0.0, 0.2), None], "with 95 % interval where there is one, n = 2"),
        ([None, None], "without 95 % interval (the data say why), n = 2"),
    ],
)
def test_the_caption_says_whether_there_are_intervals(
    intervals: list[tuple[float, float] | None], said: str
) -> None:
    rows = [
        ForestRow(f"m{place}", Estimate(0.1 + 0.3 * place, ci=ci))
        for place, ci in enumerate(intervals)
    ]
    assert said in correlations(rows).caption


def test_what_is_undefined_is_named_and_keeps_its_reason() -> None:
    figure = correlations(THREE)
    assert "Undefined: constant; the reasons are in the data." in figure.caption
    assert figure.points.rows[2].cell("value").reason == "all scores are equal"


def test_many_undefined_rows_are_counted_rather_than_named() -> None:
    nothing = [ForestRow(f"m{number}", Estimate.undefined("constant")) for number in range(9)]
    assert (
        "Undefined: m0, m1, m2, m3, m4, m5 and 3 more;"
        in correlations([THREE[0], *nothing]).caption
    )


def test_nothing_defined_says_why() -> None:
    figure = correlations([THREE[2]])
    assert (figure.is_empty, figure.empty_reason) == (
        True,
        "No metric has a value to draw: all scores are equal.",
    )


def test_each_ceiling_has_its_line_and_its_label_above_the_other() -> None:
    figure = correlations([THREE[1]], ceilings=[("one rater", 0.7), ("split half", 0.8)])
    lines = [shape["x0"] for shape in figure.layout["shapes"] if shape["type"] == "line"]
    assert lines == [0.7, 0.8]
    assert [(label["text"], label["yshift"]) for label in figure.layout["annotations"][:2]] == [
        ("one rater 0.70", 0),
        ("split half 0.80", 15),
    ]
    assert "One rater: 0.70. Split half: 0.80." in figure.caption


def test_letters_stand_at_the_edge_of_their_row_and_in_the_data() -> None:
    figure = correlations(THREE)
    assert [(label["y"], label["text"]) for label in figure.layout["annotations"]] == [
        (0, "b"),
        (1, "a"),
    ]
    assert [row.cell("letters").value for row in figure.points.rows] == ["b", "a", None]


def test_two_rows_of_one_name_are_two_rows() -> None:
    figure = correlations([ForestRow("usr", Estimate(0.1)), ForestRow("usr", Estimate(0.2))])
    assert [one["y"] for one in figure.data] == [[0], [1]]


def test_a_hostile_name_is_text_everywhere_that_plotly_reads() -> None:
    name = "<b>bold</b> & <a href='https://example.org'>here</a>"
    drawn = json.dumps(
        [correlations([ForestRow(name, Estimate(0.1))]).data, correlations(THREE).layout]
    )
    assert "<b>" not in drawn
    assert "<a " not in drawn


def test_a_long_name_is_cut_beside_its_row_and_whole_under_the_pointer() -> None:
    figure = correlations([ForestRow("m" * 60, Estimate(0.1))])
    assert figure.layout["yaxis"]["ticktext"] == ["m" * 43 + "…"]
    assert figure.data[0]["hovertext"][0].startswith("m" * 60)


RANKED = [
    RankRow("low", 0, 3, 3, Estimate(1.0, ci=(0.5, 1.5)), band=2),
    RankRow("high", 1, 1, 2, Estimate(4.0, ci=(3.5, 4.5)), band=1),
    RankRow("middle", 2, 1, 2, Estimate(3.75, ci=(3.25, 4.25)), band=1),
    RankRow(
        "once", 3, None, None, Estimate(5.0, reason="an interval needs at least 2 rated dialogues")
    ),
]


def test_a_system_stands_at_its_place_by_mean_with_a_bar_over_the_places_left_open() -> None:
    found = {
        one["name"]: (one["x"][0], one["error_x"]["arrayminus"][0], one["error_x"]["array"][0])
        for one in ranks(RANKED).data
    }
    # (place, places above, places below): high 1 of 1 to 2, middle 2 of 1 to 2, low 3 alone.
    assert found == {"high": (1, 0, 1), "middle": (2, 1, 0), "low": (3, 0, 0)}


def test_equal_means_share_the_better_place() -> None:
    figure = ranks([RankRow(name, 0, 1, 2, Estimate(2.0, ci=(1, 3))) for name in "ab"])
    assert [one["x"] for one in figure.data] == [[1], [1]]


def test_who_is_not_ranked_is_named_not_drawn() -> None:
    figure = ranks(RANKED)
    assert len(figure.data) == 3
    assert "Not ranked: once." in figure.caption
    assert (
        figure.points.rows[3].cell("rank").reason == "an interval needs at least 2 rated dialogues"
    )


def test_no_rank_at_all_is_an_empty_figure() -> None:
    assert ranks(RANKED[3:]).empty_reason.startswith("No system is ranked yet")
    assert ranks([]).is_empty


def test_ninety_nine_systems_get_ninety_nine_rows_of_height_and_some_ten_ticks() -> None:
    figure = ranks(
        [RankRow(f"s{n}", n, n + 1, n + 1, Estimate(-n, ci=(-n, -n))) for n in range(99)]
    )
    assert figure.layout["height"] == 96 + 99 * 22
    assert figure.layout["xaxis"]["dtick"] == 10


# --- many systems ---------------------------------------------------------------------------------

MANY = 250
HIGHEST = [f"s{number}" for number in range(150, 250)]


def of_many() -> list[tuple[str, Estimate]]:
    """System n has the mean n / 20: s249 is the highest."""
    return [
        (f"s{number}", Estimate(number / 20, ci=(number / 20 - 0.1, number / 20 + 0.1)))
        for number in range(MANY)
    ]


def drawn_by(chart: str) -> Figure:
    if chart == "means":
        return system_means(
            [SystemMean(name, n, mean) for n, (name, mean) in enumerate(of_many())], figure_id="f"
        )
    if chart == "two intervals":
        return two_intervals(
            [TwoMeans(name, n, mean, mean) for n, (name, mean) in enumerate(of_many())],
            figure_id="f",
            metric="m",
        )
    if chart == "correlations":
        return forest(
            [ForestRow(*row) for row in of_many()],
            figure_id="f",
            title="t",
            across="a",
            what="system",
        )
    ranked = [
        RankRow(name, n, MANY - n, min(MANY, MANY - n + 2), mean)
        for n, (name, mean) in enumerate(of_many())
    ]
    return rank_intervals(ranked, figure_id="f")


@pytest.mark.parametrize("chart", ["means", "ranks", "two intervals", "correlations"])
def test_of_many_systems_the_hundred_highest_are_drawn_and_the_data_have_all(chart: str) -> None:
    figure = drawn_by(chart)
    axis = figure.layout["yaxis"]
    assert (axis.get("categoryarray") or axis["ticktext"]) == HIGHEST
    assert {one["name"].partition(",")[0] for one in figure.data} == set(HIGHEST)
    assert "250 systems" in figure.caption
    assert "Drawn: the 100 highest; the data have all." in figure.caption
    assert len(figure.points.rows) == MANY


@pytest.mark.parametrize("chart", ["means", "ranks", "two intervals", "correlations"])
def test_who_cannot_see_a_chart_is_told_what_is_drawn_too(chart: str) -> None:
    assert drawn_by(chart).alternative.endswith("Drawn: the 100 highest; the data have all.")


def test_the_axis_of_ranks_ends_with_the_last_place_that_is_drawn() -> None:
    """The hundredth may have place 102: the axis ends 0.02 · 102 after it, not at 250."""
    low, high = drawn_by("ranks").layout["xaxis"]["range"]
    assert (low, high) == (pytest.approx(1 - 2.04), pytest.approx(102 + 2.04))


def test_as_many_systems_as_are_drawn_are_all_drawn_without_a_word() -> None:
    figure = system_means(
        [SystemMean(name, n, mean) for n, (name, mean) in enumerate(of_many()[:100])], figure_id="f"
    )
    assert len(figure.data) == 100
    assert "Drawn" not in figure.caption


def test_of_a_metric_where_lower_is_better_the_lowest_are_drawn() -> None:
    scores = [(f"s{number}", number, float(number)) for number in range(MANY)]
    figure = system_scores(scores, figure_id="f", metric="fbd", corpus="c", higher_is_better=False)
    assert figure.layout["yaxis"]["categoryarray"] == [f"s{number}" for number in range(99, -1, -1)]
    assert "Drawn: the 100 best; the data have all." in figure.caption


def test_of_an_order_of_their_own_the_first_are_drawn() -> None:
    figure = forest(
        [ForestRow(*row) for row in of_many()],
        figure_id="f",
        title="t",
        across="a",
        what="level",
        ordered=False,
    )
    assert figure.layout["yaxis"]["ticktext"] == [f"s{number}" for number in range(99, -1, -1)]
    assert "Drawn: the first 100; the data have all." in figure.caption


def test_of_many_raters_the_strictest_and_the_most_lenient_are_drawn() -> None:
    """Both charts draw the same raters in the same order."""
    raters = [RaterRow(name, 5, severity, shares=(0.5, 0.5)) for name, severity in of_many()]
    both = [severity_forest(raters, figure_id="f"), scale_use(raters, (1.0, 2.0), figure_id="g")]
    extremes = [
        *(f"s{number}" for number in range(50)),
        *(f"s{number}" for number in range(200, 250)),
    ]
    assert [figure.layout["yaxis"]["ticktext"] for figure in both] == [extremes, extremes]
    for figure in both:
        assert "n = 250 raters" in figure.caption
        assert (
            "Drawn: the 50 strictest and the 50 most lenient; the data have all." in figure.caption
        )
        assert len(figure.points.rows) == MANY


UNKNOWN = Estimate.undefined("nobody judged what others judged")


def use_of(raters: list[RaterRow]) -> Figure:
    return scale_use(raters, (1.0, 2.0), figure_id="g")


def test_raters_whose_severity_is_unknown_are_left_out_first() -> None:
    raters = [RaterRow(f"u{n}", 5, UNKNOWN, shares=(0.5, 0.5)) for n in range(60)]
    raters += [RaterRow(f"k{n}", 5, Estimate(float(n)), shares=(0.5, 0.5)) for n in range(50)]
    figure = use_of(raters)
    assert figure.layout["yaxis"]["ticktext"] == [f"k{n}" for n in range(50)]
    assert "n = 110 raters, in the order of severity" in figure.caption
    assert "Drawn: the 50 whose severity is known; the data have all." in figure.caption


def test_where_no_severity_is_known_those_with_most_ratings_stand_on_top_and_no_order_is_claimed() -> (
    None
):
    raters = [RaterRow(f"u{n}", 500 - n, UNKNOWN, shares=(0.5, 0.5)) for n in range(110)]
    figure = use_of(raters)
    assert figure.layout["yaxis"]["ticktext"] == [f"u{n}" for n in range(99, -1, -1)]
    assert "severity" not in figure.caption
    assert "Drawn: the 100 with most ratings; the data have all." in figure.caption


@pytest.mark.parametrize("chart", ["means", "ranks", "two intervals", "correlations"])
def test_the_scale_of_many_rows_stands_above_them(chart: str) -> None:
    figure = drawn_by(chart)
    assert figure.layout["xaxis"]["side"] == "top"
    assert figure.layout["yaxis"]["range"] == [-0.6, 99.6]


def test_the_scale_of_thirty_rows_stands_below_them() -> None:
    few = system_means(
        [SystemMean(name, n, mean) for n, (name, mean) in enumerate(of_many()[:30])], figure_id="f"
    )
    assert "side" not in few.layout["xaxis"]
    assert few.layout["yaxis"]["range"] == [-0.6, 29.6]


def test_the_scale_above_has_its_room_without_lines() -> None:
    assert correlations([ForestRow(*row) for row in of_many()[:40]]).layout["margin"]["t"] == 56


def test_labels_of_lines_stand_between_the_scale_above_and_the_first_row() -> None:
    """Two lines of 15 pixels in 1.6 rows of 24."""
    figure = correlations(
        [ForestRow(*row) for row in of_many()[:40]], ceilings=[("one rater", 0.5), ("all", 0.9)]
    )
    assert figure.layout["yaxis"]["range"] == [-0.6, pytest.approx(39.6 + 1.6)]
    assert [(one["text"], one["yshift"]) for one in figure.layout["annotations"]] == [
        ("one rater 0.50", -34),
        ("all 0.90", -19),
    ]


@pytest.mark.parametrize(("counts", "step"), [((10, 12), 1), ((10, 20), 1), ((10, 21), None)])
def test_few_rated_dialogues_are_counted_in_whole_ones(
    counts: tuple[int, ...], step: int | None
) -> None:
    figure = width_curve(
        [WidthAt(count, 0.2, 0.1, 4.0) for count in counts], figure_id="f", metric="m"
    )
    assert figure.layout["xaxis"].get("dtick") == step


def test_steps_of_an_axis_are_those_of_the_systems_that_are_drawn() -> None:
    """Twelve are drawn, from 10 to 12 dialogues; the thirteenth, worth least, has 40."""
    systems = [(f"s{n}", n, [(10, 3.0), (12, 2.0)]) for n in range(12)] + [
        ("last", 12, [(10, 1.1), (40, 1.0)])
    ]
    figure = benefit_curve(systems, figure_id="f", metric="m")
    assert figure.layout["xaxis"]["dtick"] == 1


# --- where markers stand --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exact", "drawn"),
    [
        ([0.0, 1 / 3, 4.0], [0.0, 0.33333, 4.0]),
        ([1000000.1, 1000000.123456789, 1000000.9], [1000000.1, 1000000.123457, 1000000.9]),
        ([-1e-7, 0.0, 2e-7 / 3], [-1e-7, 0.0, 6.6667e-8]),
        ([123456.789], [123456.789]),
        ([], []),
    ],
)
def test_markers_stand_to_a_hundred_thousandth_of_their_spread(
    exact: list[float], drawn: list[float]
) -> None:
    """Spread 4: five decimals; 0.8: six; 1.7e-7: twelve; no spread: as it is."""
    assert places(exact) == pytest.approx(drawn, rel=1e-6, abs=1e-18)
    assert max(len(repr(one)) for one in [*places(exact), 0.0]) <= 14
