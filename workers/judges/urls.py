from django.urls import path

from workers.judges import prompt_views, trial_views, views

CORPUS = "corpora/<slug:slug>/judges"

urlpatterns = [
    path("judges/", prompt_views.judge_prompts, name="judge-prompts"),
    path("judges/new/", prompt_views.judge_prompt_new, name="judge-prompt-new"),
    path("judges/<slug:slug>/", prompt_views.judge_prompt, name="judge-prompt"),
    path("judges/<slug:slug>/edit/", prompt_views.judge_prompt_edit, name="judge-prompt-edit"),
    path(
        "judges/<slug:slug>/delete/", prompt_views.judge_prompt_delete, name="judge-prompt-delete"
    ),
    path("judges/<slug:slug>/try/", trial_views.judge_prompt_try, name="judge-prompt-try"),
    path("judges/<slug:slug>/trials/<int:pk>/", trial_views.judge_trial, name="judge-trial"),
    path(
        "judges/<slug:slug>/trials/<int:pk>/stop/",
        trial_views.judge_trial_stop,
        name="judge-trial-stop",
    ),
    path(
        "judges/<slug:slug>/trials/<int:pk>/resume/",
        trial_views.judge_trial_resume,
        name="judge-trial-resume",
    ),
    path(f"{CORPUS}/", views.judge_runs, name="judge-runs"),
    path(f"{CORPUS}/progress/", views.judge_progress, name="judge-progress"),
    path(f"{CORPUS}/estimate/", views.judge_estimate, name="judge-estimate"),
    path(f"{CORPUS}/start/", views.judge_start, name="judge-start"),
    path(f"{CORPUS}/stop/", views.judge_stop, name="judge-stop"),
    path(f"{CORPUS}/resume/", views.judge_resume, name="judge-resume"),
    path(f"{CORPUS}/budget/", views.judge_budget, name="judge-budget"),
    path(f"{CORPUS}/forget/", views.judge_forget, name="judge-forget"),
]
