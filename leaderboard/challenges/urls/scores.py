from __future__ import annotations

from django.urls import path

from leaderboard.challenges.views import scores

urlpatterns = [
    path("corpora/<slug:slug>/metric-scores/", scores.metric_scores, name="metric-scores"),
    path(
        "corpora/<slug:slug>/metric-scores/template/",
        scores.template,
        name="metric-scores-template",
    ),
    path("metric-scores/<int:pk>/withdraw/", scores.withdraw_metric, name="metric-scores-withdraw"),
]
