from django.urls import path

from workers import views

urlpatterns = [
    path("metrics/", views.metrics, name="metrics"),
    path("runs/", views.all_runs, name="runs"),
    path("corpora/<slug:slug>/runs/", views.corpus_runs, name="corpus-runs"),
    path("corpora/<slug:slug>/runs/progress/", views.corpus_runs_progress, name="corpus-runs-progress"),
    path("corpora/<slug:slug>/runs/score/", views.score, name="score"),
    path("corpora/<slug:slug>/runs/retry/", views.retry_failed, name="retry-failed"),
    path("corpora/<slug:slug>/runs/withdraw/", views.withdraw_waiting, name="withdraw-waiting"),
]
