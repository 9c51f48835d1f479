"""A chart that is read back from where it is stored shows what it showed when it was drawn."""

import json
from typing import Any

from common.estimates import Estimate
from common.tables.to_json import table_to_json
from leaderboard.answers.figures import StoredFigures
from leaderboard.figures import ROWS_BENEATH, Point, metric_vs_human_scatter
from leaderboard.stored_figures import document_of, figure_of, long_points, table_for_file


def scatter(points: int, **each):
    return metric_vs_human_scatter(
        [
            Point(
                f"system {number % 3}",
                1 + number % 5,
                number / points,
                number % 3,
                f"turn {number}",
                "Hi.",
                **each,
            )
            for number in range(points)
        ],
        figure_id="scatter-turn",
        level="turn",
        metric="bleu_4",
        correlation=Estimate(0.5, ci=(0.4, 0.6)),
        ceiling=Estimate(0.7),
        signature="corpus:made",
    )


def through_json(figure):
    return figure_of(json.loads(json.dumps(document_of(figure))))


def read_back(*answer: list[dict[str, Any]]) -> StoredFigures:
    figures, points = json.loads(json.dumps(answer))
    return StoredFigures(figures=tuple(figures), points=tuple(points))


def test_a_short_figure_comes_back_whole():
    figure = scatter(12)
    assert through_json(figure) == figure


def test_a_long_figure_comes_back_with_its_summary_in_place_of_its_points():
    figure = scatter(ROWS_BENEATH + 1)
    found = through_json(figure)
    assert (found.data, found.layout, found.caption, found.legend) == (
        figure.data,
        figure.layout,
        figure.caption,
        figure.legend,
    )
    assert found.summary == figure.summary
    assert len(found.points.rows) == 3  # one a system
    assert found.points.id == figure.points.id  # the link to the download carries it


def test_the_file_of_a_long_figure_is_of_all_its_points_with_their_intervals_and_digits():
    short, long = scatter(12), scatter(ROWS_BENEATH + 1, human_ci=(1 / 3, 2 / 3))
    answer = read_back([document_of(short)], long_points([short, long]))
    # The short figure's are in its document
    assert [one["id"] for one in answer.points] == ["scatter-turn-data"]
    assert table_to_json(table_for_file(answer, "scatter-turn-data")) == table_to_json(long.points)


def test_the_file_of_a_short_figure_is_of_its_own_table():
    figure = scatter(12)
    answer = read_back([document_of(figure)], long_points([figure]))
    assert table_for_file(answer, "scatter-turn-data") == figure.points
    assert table_for_file(answer, "scatter-system-data") is None
