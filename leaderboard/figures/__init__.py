"""From rows to figures: plotly dictionaries with a caption, a text alternative and the data. Pure;
draws nothing.

One file a figure: ``scatter`` (with its points, names, lines and tables), ``forest`` and, made of
it, ``metric_correlations``, ``rank_intervals``, ``system_means``, ``score_spread``,
``precision_recall``, ``response_map``, ``scores_by_human``; ``heat_table`` is a table of shaded
numbers. All are made of ``figure`` and ``drawing``.
"""

from leaderboard.figures.figure import CorrelationName, Figure, Level, Point, SystemMean
from leaderboard.figures.forest import ForestRow, forest
from leaderboard.figures.metric_correlations import metric_correlations
from leaderboard.figures.rank_intervals import RankRow, rank_intervals
from leaderboard.figures.response_map import MapPoint, response_map
from leaderboard.figures.scatter import metric_vs_human_scatter
from leaderboard.figures.scatter_names import SYSTEMS_NAMED
from leaderboard.figures.scatter_points import MAX_POINTS
from leaderboard.figures.scatter_tables import ROWS_BENEATH
from leaderboard.figures.score_spread import score_histogram, system_scores
from leaderboard.figures.scores_by_human import scores_by_human
from leaderboard.figures.system_means import system_means

__all__ = [
    "MAX_POINTS",
    "ROWS_BENEATH",
    "SYSTEMS_NAMED",
    "CorrelationName",
    "Figure",
    "ForestRow",
    "Level",
    "MapPoint",
    "Point",
    "RankRow",
    "SystemMean",
    "forest",
    "metric_correlations",
    "metric_vs_human_scatter",
    "rank_intervals",
    "response_map",
    "score_histogram",
    "scores_by_human",
    "system_means",
    "system_scores",
]
