from __future__ import annotations

from django.urls import path

from leaderboard.challenges.views import prompts

ROUND = "challenges/<slug:slug>/rounds/<slug:round_slug>/"

urlpatterns = [
    path(f"{ROUND}prompt/", prompts.prompt_new, name="prompt-new"),
    path(f"{ROUND}prompt/try/", prompts.prompt_try, name="prompt-try"),
]
