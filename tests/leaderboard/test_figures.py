from __future__ import annotations

import json
import random

import pytest
from scipy import stats

from common.estimates import Estimate
from leaderboard.figures import (
    MAX_POINTS,
    SYSTEMS_NAMED,
    Figure,
    Level,
    Point,
    SystemMean,
    metric_vs_human_scatter,
)
from leaderboard.pages.systems.figures.system_means import system_means

R = Estimate(0.32, ci=(0.2, 0.43), p=0.001)
THREE = [Point("one", 1.5, 0.1, 0), Point("two", 2.5, 0.5, 1), Point("three", 3.5, 0.3, 9)]


def scatter(
    points: list[Point], level: Level = "system", ceiling: Estimate | None = None, **more: object
) -> Figure:
    return metric_vs_human_scatter(
        points,
        figure_id="f",
        level=level,
        metric="bleu_4",
        correlation=R,
        ceiling=ceiling,
        **more,  # type: ignore[arg-type]
    )


def trace(figure: Figure, name: str) -> dict[str, list[float]]:
    return next(one for one in figure.data if one["name"] == name)


def slope(line: dict[str, list[float]]) -> float:
    return (line["y"][1] - line["y"][0]) / (line["x"][1] - line["x"][0])


def many(count: int, systems: int = 3) -> list[Point]:
    source = random.Random(5)
    return [
        Point(
            f"s{number % systems}",
            float(source.randint(1, 5)),
            source.random(),
            number % systems,
            f"turn {number}",
        )
        for number in range(count)
    ]


def test_the_fit_is_the_least_squares_line() -> None:
    # Deviations from (2.5, 0.3): (-1, -0.2), (0, 0.2), (1, 0). Slope (0.2 + 0 + 0) / 2 = 0.1.
    fit = trace(scatter(THREE), "fit")
    assert slope(fit) == pytest.approx(0.1)
    assert fit["y"][0] == pytest.approx(0.2)


def test_the_fit_is_of_all_points_also_those_not_drawn() -> None:
    points = many(MAX_POINTS + 500)
    figure = scatter(points, "turn")
    expected = stats.linregress([p.human for p in points], [p.metric for p in points]).slope
    assert slope(trace(figure, "fit")) == pytest.approx(expected, rel=1e-9)
    assert sum(len(one["x"]) for one in figure.data if one["mode"] == "markers") == MAX_POINTS
    assert f"{MAX_POINTS:,} of the points are drawn" in figure.caption


def test_the_ceiling_line_is_what_a_metric_of_this_spread_would_reach() -> None:
    # s_human = 1, s_metric = sqrt((0.04 + 0.04 + 0) / 2) = 0.2: slope 0.8 · 0.2 / 1 = 0.16.
    assert slope(trace(scatter(THREE, ceiling=Estimate(0.8)), "ceiling")) == pytest.approx(0.16)


def test_the_ceiling_of_a_metric_where_lower_is_better_falls() -> None:
    figure = scatter(THREE, ceiling=Estimate(0.8), higher_is_better=False)
    assert slope(trace(figure, "ceiling")) == pytest.approx(-0.16)


def test_a_ceiling_of_ranks_is_said_but_not_drawn() -> None:
    figure = scatter(THREE, ceiling=Estimate(0.8), correlation_name="Spearman ρ")
    assert "ceiling" not in [one["name"] for one in figure.data]
    assert "Ceiling of a perfect metric (√reliability): Spearman ρ = 0.80." in figure.caption


def test_an_undefined_ceiling_says_why() -> None:
    figure = scatter(THREE, ceiling=Estimate.undefined("the file holds mean scores, not raters"))
    assert (
        "No ceiling of a perfect metric: the file holds mean scores, not raters." in figure.caption
    )


def test_equal_human_scores_have_no_fit_and_say_so() -> None:
    figure = scatter([Point("one", 3.0, 0.1, 0), Point("two", 3.0, 0.2, 1)])
    assert "fit" not in [one["name"] for one in figure.data]
    assert "No fitted line: all human scores are equal." in figure.caption


def test_whole_scores_are_spread_by_the_seed_and_the_caption_says_so() -> None:
    first, again, other = (scatter(many(50), "turn", seed=seed) for seed in (0, 0, 1))
    assert first.data == again.data
    assert first.data[0]["x"] != other.data[0]["x"]
    assert "spread sideways by up to 0.18 (seed 0)" in first.caption


def test_the_spread_never_takes_a_point_past_half_a_scale_point() -> None:
    points = many(300, systems=1)
    drawn = scatter(points, "turn").data[0]["x"]
    assert max(abs(shown - point.human) for shown, point in zip(drawn, points, strict=True)) < 0.5


def test_thirds_are_spread_less_than_whole_scores() -> None:
    # Means of three raters lie 1/3 apart: 0.36 / 3 = 0.12.
    points = [Point("one", 1 + number % 7 / 3, 0.1, 0) for number in range(70)]
    assert "spread sideways by up to 0.12" in scatter(points, "turn").caption


def test_names_lean_towards_the_middle_of_the_chart() -> None:
    # The middle of 1.5 and 3.5 is 2.5.
    assert [one["textposition"][0] for one in scatter(THREE).data[:3]] == [
        "top right",
        "top left",
        "top left",
    ]


def test_scores_that_are_rarely_equal_are_not_spread() -> None:
    assert [one["x"][0] for one in scatter(THREE, "turn").data[:3]] == [1.5, 2.5, 3.5]


def test_the_data_keep_the_scores_as_they_were() -> None:
    points = many(50)
    values = [row.cell("human").value for row in scatter(points, "turn").points.rows]
    assert values == [point.human for point in points]


def test_a_system_keeps_colour_and_marker_by_its_number() -> None:
    # Number 9 is the second system of the second round through eight colours: colour 1, marker
    # square.
    marker = trace(scatter(THREE), "three")["marker"]
    assert marker == {"color": "#D55E00", "symbol": "square", "size": 9}


def test_systems_are_labelled_directly_while_their_names_fit() -> None:
    few = scatter([Point(f"s{n}", n + 0.5, n / 10, n) for n in range(SYSTEMS_NAMED)])
    crowd = scatter([Point(f"s{n}", n + 0.5, n / 10, n) for n in range(SYSTEMS_NAMED + 1)])
    assert few.data[0]["text"] == ["s0"]
    assert "text" not in crowd.data[0]


def test_what_a_system_said_cannot_become_markup() -> None:
    point = Point("one", 1.0, 0.1, 0, hover="<a href='https://example.org'>look</a> & more")
    hover = scatter([point], "turn").data[0]["hovertext"][0]
    assert "<a" not in hover
    assert "&lt;a href='https://example.org'&gt;look&lt;/a&gt; &amp; more" in hover


def test_the_caption_has_n_the_coefficient_and_its_interval() -> None:
    assert (
        "system level, n = 3; Pearson r = 0.32 (95 % interval 0.20 to 0.43)."
        in scatter(THREE).caption
    )


def test_the_signature_stands_apart_from_the_sentence() -> None:
    figure = scatter(THREE, signature="bleu_4|v:1")
    assert (figure.signature, "bleu_4|v:1" in figure.caption) == ("bleu_4|v:1", False)


def test_names_that_would_cover_each_other_give_way_to_a_legend() -> None:
    close = [*THREE, Point("also two", 2.51, 0.5, 3)]
    figure = scatter(close)
    assert figure.legend == (("one", 0), ("two", 1), ("also two", 3), ("three", 9))
    assert all("text" not in one for one in figure.data if one["mode"] == "markers")


def test_a_long_list_of_points_is_summed_up_by_system_beneath() -> None:
    figure = scatter(many(300), "turn")
    assert (len(figure.points.rows), len(figure.summary.rows)) == (300, 3)
    assert [row.cell("n").value for row in figure.summary.rows] == [100, 100, 100]
    assert figure.summary.id == figure.points.id


def test_no_points_is_an_empty_figure_with_its_reason() -> None:
    figure = scatter([], "turn")
    assert (figure.is_empty, figure.empty_reason) == (
        True,
        "No turn has both a human score and a score of bleu_4 yet.",
    )


def test_system_means_stand_in_order_with_whiskers() -> None:
    figure = system_means(
        [
            SystemMean("low", 0, Estimate(2.0, ci=(1.5, 2.25))),
            SystemMean("high", 1, Estimate(4.0), badges=("simulated",)),
        ],
        figure_id="m",
    )
    assert figure.layout["yaxis"]["categoryarray"] == ["low", "high (simulated)"]
    whisker = figure.data[0]["error_x"]
    assert (whisker["arrayminus"], whisker["array"]) == ([0.5], [0.25])


def test_a_system_without_a_mean_is_named_not_drawn() -> None:
    figure = system_means(
        [
            SystemMean("rated", 0, Estimate(2.0)),
            SystemMean("new", 1, Estimate.undefined("no ratings")),
        ],
        figure_id="m",
    )
    assert len(figure.data) == 1
    assert "Without a mean: new." in figure.caption


def test_figures_are_json_without_nan() -> None:
    figure = scatter(many(20), "turn", ceiling=Estimate(0.8))
    assert json.loads(json.dumps([figure.data, figure.layout], allow_nan=False))


def test_of_more_systems_than_looks_those_that_look_alike_share_a_trace() -> None:
    """Eight colours times six shapes are 48 looks: of 60 systems the 49th looks like the first.
    Nobody is lost, and under the pointer stands who it is."""
    figure = scatter(many(120, systems=60), "turn")
    markers = [one for one in figure.data if one["mode"] == "markers"]
    assert [one["name"] for one in markers] == [""] * 48
    assert len({(one["marker"]["color"], one["marker"]["symbol"]) for one in markers}) == 48
    assert {text.partition(",")[0] for text in markers[0]["hovertext"]} == {"s0", "s48"}
    assert sum(len(one["x"]) for one in markers) == 120


def test_as_many_systems_as_looks_have_a_trace_each() -> None:
    figure = scatter(many(96, systems=48), "turn")
    assert [one["name"] for one in figure.data if one["mode"] == "markers"] == [
        f"s{number}" for number in range(48)
    ]


def test_a_point_leads_to_its_dialogue_turn_and_system() -> None:
    figure = scatter([Point("one", 1.0, 0.1, 7, dialogue=3, turn=2)], "turn")
    assert figure.layout["meta"] == {"link": "dialogues/{0}/?turn={1}&system={2}#system-{2}"}
    assert figure.data[0]["customdata"] == [[3, 2, 7]]
