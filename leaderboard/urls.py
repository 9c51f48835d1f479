from django.urls import include, path

from leaderboard.analyses import pages as analysis_pages
from leaderboard.dialogues import pages as dialogue_pages
from leaderboard.fewer_ratings import pages as fewer_ratings_pages
from leaderboard.judges import pages as judge_pages
from leaderboard.maps import heat_map_pages, response_map_pages
from leaderboard.metric_boards import pages as metric_board_pages
from leaderboard.metric_pairs import pages as metric_comparison_pages
from leaderboard.one_metric import pages as metric_pages
from leaderboard.raters import agreement_pages, campaign_pages, effects_pages
from leaderboard.system_boards import pages as system_board_pages
from leaderboard.system_pairs import pages as system_comparison_pages
from leaderboard.trainings import pages as training_pages

urlpatterns = [
    path("metrics/<str:name>/", metric_pages.metric, name="metric"),
    path("analyses/<str:key>/", analysis_pages.analysis, name="analysis"),
    path("analyses/<str:key>/retry/", analysis_pages.try_again, name="analysis-retry"),
    path("corpora/<slug:slug>/metrics/", metric_board_pages.metrics, name="metric-leaderboard"),
    path("corpora/<slug:slug>/metrics/heat-map/", heat_map_pages.heat_map, name="metric-heat-map"),
    path("corpora/<slug:slug>/metrics/plots/", metric_board_pages.scatter, name="scatter"),
    path(
        "corpora/<slug:slug>/metrics/compare/",
        metric_comparison_pages.comparison,
        name="metric-comparison",
    ),
    path("corpora/<slug:slug>/systems/", system_board_pages.systems, name="system-leaderboard"),
    path(
        "corpora/<slug:slug>/systems/compare/",
        system_comparison_pages.compare,
        name="system-comparison",
    ),
    path(
        "corpora/<slug:slug>/systems/fewer-ratings/",
        fewer_ratings_pages.fewer_ratings,
        name="fewer-ratings",
    ),
    path(
        "corpora/<slug:slug>/agreement/raters/", effects_pages.rater_effects, name="rater-effects"
    ),
    path(
        "corpora/<slug:slug>/systems/map/",
        response_map_pages.response_map_page,
        name="response-map",
    ),
    path("corpora/<slug:slug>/agreement/", agreement_pages.agreement, name="agreement"),
    path("corpora/<slug:slug>/dialogues/<int:position>/", dialogue_pages.dialogue, name="dialogue"),
    path("corpora/<slug:slug>/judges/inspect/", judge_pages.inspector, name="judge-inspector"),
    path(
        "corpora/<slug:slug>/judges/inspect/<int:position>/",
        judge_pages.answer,
        name="judge-answer",
    ),
    path("corpora/<slug:slug>/judges/hygiene/", judge_pages.judge_bias, name="judge-hygiene"),
    path(
        "campaigns/<slug:slug>/agreement/",
        campaign_pages.campaign_agreement,
        name="campaign-agreement",
    ),
    path("training/", training_pages.trainings, name="trainings"),
    path("training/<slug:slug>/", training_pages.training, name="training"),
    path("training/<slug:slug>/stop/", training_pages.training_stop, name="training-stop"),
    path("training/<slug:slug>/go-on/", training_pages.training_go_on, name="training-go-on"),
    path("training/<slug:slug>/delete/", training_pages.training_delete, name="training-delete"),
    path("", include("leaderboard.challenges.urls")),
]
