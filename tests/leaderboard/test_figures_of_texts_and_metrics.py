"""Boxes by human score, bands of scatters, maps of texts and the heat map's cells."""

from __future__ import annotations

import json

import pytest

from common.estimates import Estimate
from leaderboard.figures import Point, metric_vs_human_scatter
from leaderboard.pages.maps.heat_figure import correlation_heat, hundredths, significance_heat
from leaderboard.pages.maps.map_figure import MapPoint, response_map
from leaderboard.pages.metrics.figures import scores_by_human
from leaderboard.statistics.distribution import ScoresAt

R = Estimate(0.32, ci=(0.2, 0.43))


def scatter(points, level="turn"):
    return metric_vs_human_scatter(points, figure_id="f", level=level, metric="bleu", correlation=R)


def trace(figure, name):
    return next(one for one in figure.data if one["name"] == name)


def points(dialogues: int) -> list[Point]:
    return [
        Point("one", 1 + n % 5, (n * 7 % 11) / 11, 0, dialogue=n % dialogues if dialogues else None)
        for n in range(40)
    ]


def test_a_scatter_whose_points_know_their_dialogues_redraws_them_for_its_band():
    figure = scatter(points(8))
    band = trace(figure, "band")
    # There at the lower edge, back at the upper
    assert (band["x"][0], band["x"][24], band["x"][25]) == (1, 5, 5)
    assert all(low < high for low, high in zip(band["y"][:25], band["y"][49:24:-1], strict=True))
    assert "(1,000 draws of 8 dialogues, seed 0)" in figure.caption


def test_a_scatter_without_dialogues_says_that_its_band_takes_points_as_independent():
    assert "(Student's t, points taken as independent)" in scatter(points(0)).caption


def test_two_points_have_a_line_and_no_band():
    figure = scatter([Point("one", 1.0, 0.1, 0), Point("two", 2.0, 0.2, 1)], "system")
    assert "No band: a band needs at least 3 points." in figure.caption
    assert "fit" in [one["name"] for one in figure.data]


def test_jitter_is_named_on_the_axis_and_only_where_there_is_some():
    assert (
        scatter(points(8)).layout["xaxis"]["title"]["text"]
        == "human score (overall), mean, jittered by up to 0.18"
    )
    assert (
        scatter(points(8)[:3], "system").layout["xaxis"]["title"]["text"]
        == "human score (overall), mean"
    )


GROUPS = [
    ScoresAt(1.0, 2, 0.3, 0.2, 0.2, 0.3, 0.4, 0.4),
    ScoresAt(2.0, 40, 0.5, 0.1, 0.3, 0.45, 0.7, 0.9),
]


def boxes():
    return scores_by_human(
        GROUPS, figure_id="b", metric="<b>bleu</b>", aspect="overall", level="turn"
    )


def test_a_box_has_its_quartiles_as_corners_its_median_as_a_line_and_whiskers_to_the_percentiles():
    figure = boxes()
    box, line = trace(figure, "quartiles"), trace(figure, "median")
    assert (box["x"], box["y"]) == (
        [1.7, 2.3, 2.3, 1.7, 1.7, None],
        [0.3, 0.3, 0.7, 0.7, 0.3, None],
    )
    assert line["y"] == [0.45, 0.45, None]
    whisker = trace(figure, "5th to 95th percentile")
    assert (whisker["error_y"]["array"], whisker["error_y"]["arrayminus"]) == (
        [pytest.approx(0.45)],
        [pytest.approx(0.35)],
    )


def test_two_scores_have_a_mean_and_no_box():
    figure = boxes()
    assert trace(figure, "mean")["x"] == [1.0, 2.0]
    assert "Fewer than 5 scores have no box." in figure.caption
    assert figure.layout["xaxis"]["ticktext"] == ["1<br>n = 2", "2<br>n = 40"]


def test_nothing_to_gather_is_an_empty_figure():
    assert scores_by_human([], figure_id="b", metric="m", aspect="a", level="turn").is_empty


TEXTS = [
    MapPoint("bot", 1, "dialogue 1, turn 0", "Hello <b>you</b>.", 0.0, 1.0),
    MapPoint("other", 2, "dialogue 1, turn 0", "Hi.", 1.0, 1.0),
    MapPoint(None, None, "dialogue 1, turn 0", "Hey.", 2.0, 3.0),
]


def texts(method="pca", shown=("bot",)):
    return response_map(
        TEXTS,
        figure_id="m",
        method=method,
        shown=shown,
        explained=(0.125, 0.05),
        perplexity=30.0,
        seed=4,
    )


def test_a_map_draws_the_chosen_in_colour_the_rest_pale_and_references_on_top():
    figure = texts()
    assert [one["name"] for one in figure.data] == ["other systems", "bot", "references"]
    assert (figure.data[1]["x"], figure.data[2]["marker"]["symbol"]) == ([0.0], "diamond-open")
    assert figure.legend == (("bot", 1),)


def test_components_say_what_they_hold_and_t_sne_what_it_does_not_say():
    assert texts().layout["xaxis"]["title"]["text"] == "first component, 12 % of the variance"
    assert (
        "distances between clusters, and their sizes, mean little (perplexity 30, seed 4)"
        in texts("tsne").caption
    )


def test_a_text_that_is_markup_is_text_on_the_map():
    assert "<b>" not in json.dumps(texts().data)


NAMES = {0: "bleu", 1: "rouge", 4: "fbd"}
PAIRS = {
    (0, 1): (Estimate(0.93, ci=(0.9, 0.95)), 300),
    (0, 4): (Estimate(-0.26), 5),
    (1, 4): (Estimate.undefined("all scores of both metrics are equal"), 5),
}


def heat():
    return correlation_heat(
        NAMES, [4, 0, 1], PAIRS, heat_id="h", coefficient="Pearson's r", caption="c"
    )


def test_a_cell_is_shaded_by_the_size_and_written_with_the_sign():
    rows = dict(heat().rows)
    fbd, _, rouge = rows["bleu"]  # columns: fbd, bleu, rouge
    assert (fbd.text, fbd.step, fbd.negative) == ("−.26", 2, True)  # 0.26 · 8 = 2.08
    assert (rouge.text, rouge.step) == (".93", 7)
    assert rouge.words == "bleu and rouge: Pearson's r = 0.93 [0.90 to 0.95], n = 300"


def test_the_map_is_the_same_on_both_sides_of_its_diagonal():
    cells = [[cell.text for cell in row] for _, row in heat().rows]
    assert cells == [list(column) for column in zip(*cells, strict=True)]
    assert [heat().rows[place][1][place].kind for place in range(3)] == ["self"] * 3


def test_an_undefined_pair_says_why():
    cell = dict(heat().rows)["rouge"][0]
    assert (cell.text, cell.kind) == ("–", "undefined")
    assert cell.words.endswith("undefined, all scores of both metrics are equal")


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, ".50"), (-0.004, ".00"), (1.0, "1.0"), (-1.0, "−1.0"), (0.996, "1.0")]
)
def test_coefficients_fit_a_small_cell(value, text):
    assert hundredths(value) == text


def test_significance_stands_in_the_row_of_the_better_metric_only():
    table = significance_heat(
        ["bleu", "rouge", "constant"],
        [1, 0, 2],
        {(0, 1): (-0.2, 0.004)},
        heat_id="h",
        coefficient="Pearson's r",
        caption="c",
        undefined={"constant": "all scores are equal"},
    )
    rows = dict(table.rows)
    assert (rows["rouge"][1].text, rows["rouge"][1].step) == (".004", 5)
    assert rows["rouge"][1].words == "rouge leads bleu by 0.200 in Pearson's r, p = 0.004"
    assert rows["bleu"][0].kind == "empty"
    assert rows["bleu"][2].words == "bleu and constant: all scores are equal"


def test_a_lead_that_may_be_chance_is_written_and_not_shaded():
    table = significance_heat(
        ["a", "b"],
        [0, 1],
        {(0, 1): (0.1, 0.4)},
        heat_id="h",
        coefficient="r",
        caption="c",
        undefined={},
    )
    cell = table.rows[0][1][1]
    assert (cell.text, cell.kind, cell.step) == (".40", "quiet", 0)
