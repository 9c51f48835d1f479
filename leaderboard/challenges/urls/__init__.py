from django.urls import include, path

urlpatterns = [
    path("", include(f"leaderboard.challenges.urls.{part}"))
    for part in ("organising", "taking_part", "boards", "prompts", "scores", "notices")
]
