from __future__ import annotations

from django.urls import path

from leaderboard.challenges.views import boards

urlpatterns = [
    path("challenges/<slug:slug>/rounds/<slug:round_slug>/board/", boards.board, name="board"),
]
