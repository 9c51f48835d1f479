from django.urls import include, path

from leaderboard.pages.additions import view as additions
from leaderboard.pages.arena import view as arena
from leaderboard.pages.cases import view as cases
from leaderboard.pages.dialogue import view as dialogue
from leaderboard.pages.export import view as export
from leaderboard.pages.fewer_ratings import view as fewer_ratings
from leaderboard.pages.judges import view as judges
from leaderboard.pages.maps import view as maps
from leaderboard.pages.metric import view as metric
from leaderboard.pages.metric_pair import view as metric_pair
from leaderboard.pages.metrics import view as metrics
from leaderboard.pages.preferences import view as preferences
from leaderboard.pages.published import view as published
from leaderboard.pages.raters import view as raters
from leaderboard.pages.subset import view as subset
from leaderboard.pages.system_pair import view as system_pair
from leaderboard.pages.systems import view as systems
from leaderboard.pages.training import view as training
from leaderboard.results import pages as analysis_pages

urlpatterns = [
    path("metrics/<str:name>/", metric.metric, name="metric"),
    path("analyses/<str:key>/", analysis_pages.analysis, name="analysis"),
    path("analyses/<str:key>/retry/", analysis_pages.try_again, name="analysis-retry"),
    path("arenas/<slug:slug>/leaderboard/", arena.leaderboard, name="arena-leaderboard"),
    path("corpora/<slug:slug>/add/", additions.add_to_corpus, name="corpus-add"),
    path("corpora/<slug:slug>/subset/", subset.cut_subset, name="corpus-subset"),
    path("corpora/<slug:slug>/export/", export.export, name="corpus-export"),
    path("corpora/<slug:slug>/metrics/", metrics.metrics, name="metric-leaderboard"),
    path("corpora/<slug:slug>/metrics/cases/", cases.case_study, name="case-study"),
    path("corpora/<slug:slug>/metrics/heat-map/", maps.heat_map, name="metric-heat-map"),
    path("corpora/<slug:slug>/metrics/published/", published.published, name="published-tables"),
    path(
        "corpora/<slug:slug>/metrics/preferences/",
        preferences.metrics,
        name="metric-preferences",
    ),
    path("corpora/<slug:slug>/metrics/plots/", metrics.scatter, name="scatter"),
    path(
        "corpora/<slug:slug>/metrics/compare/",
        metric_pair.comparison,
        name="metric-comparison",
    ),
    path("corpora/<slug:slug>/systems/", systems.systems, name="system-leaderboard"),
    path(
        "corpora/<slug:slug>/systems/preferences/",
        preferences.systems,
        name="preference-leaderboard",
    ),
    path(
        "corpora/<slug:slug>/systems/compare/",
        system_pair.compare,
        name="system-comparison",
    ),
    path(
        "corpora/<slug:slug>/systems/fewer-ratings/",
        fewer_ratings.fewer_ratings,
        name="fewer-ratings",
    ),
    path("corpora/<slug:slug>/agreement/raters/", raters.rater_effects, name="rater-effects"),
    path(
        "corpora/<slug:slug>/systems/map/",
        maps.response_map_page,
        name="response-map",
    ),
    path("corpora/<slug:slug>/agreement/", raters.agreement, name="agreement"),
    path("corpora/<slug:slug>/dialogues/<int:position>/", dialogue.dialogue, name="dialogue"),
    path("corpora/<slug:slug>/judges/inspect/", judges.inspector, name="judge-inspector"),
    path(
        "corpora/<slug:slug>/judges/inspect/<int:position>/",
        judges.answer,
        name="judge-answer",
    ),
    path("corpora/<slug:slug>/judges/hygiene/", judges.judge_bias, name="judge-hygiene"),
    path(
        "campaigns/<slug:slug>/agreement/",
        raters.campaign_agreement,
        name="campaign-agreement",
    ),
    path("training/", training.trainings, name="trainings"),
    path("training/<slug:slug>/", training.training, name="training"),
    path("training/<slug:slug>/stop/", training.training_stop, name="training-stop"),
    path("training/<slug:slug>/go-on/", training.training_go_on, name="training-go-on"),
    path("training/<slug:slug>/delete/", training.training_delete, name="training-delete"),
    path("", include("leaderboard.challenges.urls")),
]
