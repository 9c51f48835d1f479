from django.urls import path

from workers.judges import views

CORPUS = "corpora/<slug:slug>/judges"

urlpatterns = [
    path(f"{CORPUS}/", views.judge_runs, name="judge-runs"),
    path(f"{CORPUS}/progress/", views.judge_progress, name="judge-progress"),
    path(f"{CORPUS}/estimate/", views.judge_estimate, name="judge-estimate"),
    path(f"{CORPUS}/start/", views.judge_start, name="judge-start"),
    path(f"{CORPUS}/stop/", views.judge_stop, name="judge-stop"),
    path(f"{CORPUS}/resume/", views.judge_resume, name="judge-resume"),
    path(f"{CORPUS}/budget/", views.judge_budget, name="judge-budget"),
    path(f"{CORPUS}/forget/", views.judge_forget, name="judge-forget"),
]
