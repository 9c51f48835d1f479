from django.urls import include, path

from leaderboard.analyses import pages as analysis_pages
from leaderboard.pages.dialogue import view
from leaderboard.pages.fewer_ratings import view as fewer_ratings_pages
from leaderboard.pages.judges import view as judge_pages
from leaderboard.pages.maps import view as heat_map_pages
from leaderboard.pages.maps import view as response_map_pages
from leaderboard.pages.metric import view as metric_pages
from leaderboard.pages.metric_pair import view as metric_comparison_pages
from leaderboard.pages.metrics import view as metric_board_pages
from leaderboard.pages.raters import view as agreement_pages
from leaderboard.pages.raters import view as campaign_pages
from leaderboard.pages.raters import view as effects_pages
from leaderboard.pages.system_pair import view as system_comparison_pages
from leaderboard.pages.systems import view as system_board_pages
from leaderboard.pages.training import view as training_pages

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
    path("corpora/<slug:slug>/dialogues/<int:position>/", view.dialogue, name="dialogue"),
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
