from django.urls import path

from workers.judges import prompt_views, trial_views

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
]
