"""Every read of meta-evaluation: human scores beside metric scores, and the statistics made of
them."""

from leaderboard.queries.compared import ComparedMetric, MetricScores, chosen_metrics
from leaderboard.queries.correlations import CORRELATION_LEVELS, meta_evaluation, metric_means
from leaderboard.queries.finished_runs import metric_scores
from leaderboard.queries.human_scores import HumanSide, human_grid, human_side, metric_grid
from leaderboard.queries.metric_runs import (
    DetailsOf,
    MadeWith,
    Ran,
    details_of,
    example_run,
    made_with,
    not_run,
    ran_on,
)
from leaderboard.queries.standing import agreement, rated_levels, system_standing
from leaderboard.queries.submitted import compared_scores, named_metrics, shown_submitted_metrics

__all__ = [
    "CORRELATION_LEVELS",
    "ComparedMetric",
    "DetailsOf",
    "HumanSide",
    "MadeWith",
    "MetricScores",
    "Ran",
    "agreement",
    "chosen_metrics",
    "compared_scores",
    "details_of",
    "example_run",
    "human_grid",
    "human_side",
    "made_with",
    "meta_evaluation",
    "metric_grid",
    "metric_means",
    "metric_scores",
    "named_metrics",
    "not_run",
    "ran_on",
    "rated_levels",
    "shown_submitted_metrics",
    "system_standing",
]
