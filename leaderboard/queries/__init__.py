"""Every read of meta-evaluation: human scores beside metric scores, and the statistics made of them."""

from leaderboard.queries.compared import ComparedMetric, MetricScores, chosen_metrics
from leaderboard.queries.correlations import CORRELATION_LEVELS, meta_evaluation, metric_means
from leaderboard.queries.finished_runs import metric_scores
from leaderboard.queries.human_scores import HumanSide, human_grid, human_side, metric_grid
from leaderboard.queries.standing import agreement, rated_levels, system_standing
from leaderboard.queries.submitted import compared_scores, named_metrics, shown_submitted_metrics

__all__ = [
    "CORRELATION_LEVELS",
    "ComparedMetric",
    "HumanSide",
    "MetricScores",
    "agreement",
    "chosen_metrics",
    "compared_scores",
    "human_grid",
    "human_side",
    "meta_evaluation",
    "metric_grid",
    "metric_means",
    "metric_scores",
    "named_metrics",
    "rated_levels",
    "shown_submitted_metrics",
    "system_standing",
]
