"""From rows to figures: plotly dictionaries with a caption, a text alternative and the data. Pure;
draws nothing.

What several pages draw: ``scatter`` (with its points, names, lines and tables) and ``forest``; a
page's own figures stand with it. All are made of ``figure`` and ``drawing``.
"""

from leaderboard.figures.figure import CorrelationName, Figure, Level, Point, SystemMean
from leaderboard.figures.forest import ForestRow, forest
from leaderboard.figures.scatter import metric_vs_human_scatter
from leaderboard.figures.scatter_points import MAX_POINTS
from leaderboard.figures.scatter_tables import ROWS_BENEATH
from leaderboard.figures.series import SYSTEMS_NAMED

__all__ = [
    "MAX_POINTS",
    "ROWS_BENEATH",
    "SYSTEMS_NAMED",
    "CorrelationName",
    "Figure",
    "ForestRow",
    "Level",
    "Point",
    "SystemMean",
    "forest",
    "metric_vs_human_scatter",
]
