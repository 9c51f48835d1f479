"""Every read of meta-evaluation: human scores beside metric scores, and the statistics made of them."""

from leaderboard.queries.correlations import CORRELATION_LEVELS, meta_evaluation, metric_means
from leaderboard.queries.finished_runs import MetricScores, chosen_metrics, metric_scores
from leaderboard.queries.human_scores import HumanSide, human_grid, human_side, metric_grid
from leaderboard.queries.standing import agreement, rated_levels, system_standing

__all__ = [
    "CORRELATION_LEVELS",
    "HumanSide",
    "MetricScores",
    "agreement",
    "chosen_metrics",
    "human_grid",
    "human_side",
    "meta_evaluation",
    "metric_grid",
    "metric_means",
    "metric_scores",
    "rated_levels",
    "system_standing",
]
