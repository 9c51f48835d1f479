"""Fewer ratings for the same certainty: systems' means with the help of a metric."""

from __future__ import annotations

from functools import cache

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from common.tables import Table
from common.web import page
from leaderboard.answers.fewer_ratings import PredictionPowered, WhatIf
from leaderboard.corpus_context import corpus_context
from leaderboard.figures import Figure
from leaderboard.metric_requests import correlation_params
from leaderboard.pages.fewer_ratings.figures import benefit_curve, two_intervals, width_curve
from leaderboard.pages.fewer_ratings.query import prediction_powered
from leaderboard.pages.fewer_ratings.tables import (
    caveat_lines,
    curve_points,
    has_unrated,
    in_one_sentence,
    metrics_by_correlation,
    points_of_all,
    powered_signature,
    powered_table,
    two_means,
    usual_point,
    what_if_table,
)
from leaderboard.pages.metrics.query import metric_leaderboard
from leaderboard.results import look
from leaderboard.results.pages import waiting_page
from leaderboard.statistics.ranking.prediction_powered import LEAST_DIALOGUES

PAGE_NAME = "Fewer ratings"


@require_safe
def fewer_ratings(request: HttpRequest, slug: str) -> HttpResponse:
    """Systems' means from few ratings and a metric on every response: ``metric`` (without it the
    one that correlates best), ``aspect``, ``dialogues`` (a point of the what-if curve: how many
    rated dialogues the list of systems is for, without it the fewest from 20 on)."""
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    context = corpus_context(version, "systems", aspect)
    correlations = look(version, metric_leaderboard, **correlation_params(aspect))
    if correlations.answer is None:
        return waiting_page(request, context, correlations, page_name=PAGE_NAME, below_tab=True)
    metrics = metrics_by_correlation(correlations.answer)
    metric = request.GET.get("metric") or (metrics[0][0] if metrics else "")
    context |= {"metrics": metrics, "metric": metric, "least": LEAST_DIALOGUES}
    if not metrics:
        return page(request, "leaderboard/fewer_ratings.html", context)
    if metric not in dict(metrics):
        raise Http404(f"{metric} has no scores of responses on this corpus")
    found = look(version, prediction_powered, aspect=aspect, metric=metric)
    if found.answer is None:
        return waiting_page(request, context, found, page_name=PAGE_NAME, below_tab=True)
    document = found.answer
    points = points_of_all(document.what_if)
    at = _point(request, points)
    means = cache(lambda: powered_table(document, found.computed_at))
    drawings = cache(lambda: _drawings(document, points, metric, aspect))
    what_if = cache(lambda: what_if_table(document, at, found.computed_at) if at else None)
    context |= {
        "analysis": found,
        "look": found,
        "document": document,
        "means": means,
        "intervals": lambda: drawings()[0],
        "curves": lambda: drawings()[1:],
        "what_if": what_if,
        "at": at,
        "points": [one.dialogues for one in points],
        "sentence": in_one_sentence(document, at),
        "has_unrated": has_unrated(document),
        "written_from": (found.stored,),
    }
    files: list[Table] = []
    if "download" in request.GET:
        files = [
            table
            for table in (means(), *(drawing.points for drawing in drawings()), what_if())
            if table
        ]
    return page(request, "leaderboard/fewer_ratings.html", context, files)


def _drawings(
    document: PredictionPowered, points: list[WhatIf], metric: str, aspect: str
) -> list[Figure]:
    """The intervals with the ratings that there are; their widths, and what the metric is worth,
    with fewer."""
    signature = powered_signature(document)
    return [
        two_intervals(
            two_means(document),
            figure_id="two-intervals",
            metric=metric,
            aspect=aspect,
            signature=signature,
        ),
        width_curve(
            curve_points(points), figure_id="width-curve", metric=metric, signature=signature
        ),
        benefit_curve(
            caveat_lines(document, points),
            figure_id="worth-curve",
            metric=metric,
            signature=signature,
        ),
    ]


def _point(request: HttpRequest, points: list[WhatIf]) -> WhatIf | None:
    """The number of rated dialogues whose systems are listed: ``?dialogues=``, else the usual
    one."""
    requested = request.GET.get("dialogues", "")
    if not requested:
        return usual_point(points)
    found = next((one for one in points if str(one.dialogues) == requested), None)
    if found is None:
        raise Http404(f"the curve has no point at {requested} dialogues")
    return found
