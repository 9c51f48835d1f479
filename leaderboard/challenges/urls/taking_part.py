from __future__ import annotations

from django.urls import path

from leaderboard.challenges.views import challenges, rounds, submissions, teams

ROUND = "challenges/<slug:slug>/rounds/<slug:round_slug>/"

urlpatterns = [
    path("challenges/", challenges.challenges, name="challenges"),
    path("challenges/<slug:slug>/", challenges.challenge, name="challenge"),
    path("challenges/<slug:slug>/rules/", challenges.challenge_rules, name="challenge-rules"),
    path("challenges/<slug:slug>/team/", teams.team, name="team"),
    path("challenges/<slug:slug>/team/new/", teams.team_new, name="team-new"),
    path("challenges/<slug:slug>/team/invitation/", teams.team_invitation, name="team-invitation"),
    path("challenges/<slug:slug>/team/remove/", teams.team_remove, name="team-remove"),
    path("challenges/<slug:slug>/team/leave/", teams.team_leave, name="team-leave"),
    path("teams/join/<str:token>/", teams.team_join, name="team-join"),
    path(ROUND, rounds.round, name="round"),
    path(f"{ROUND}submit/", rounds.round_submit, name="round-submit"),
    path(f"{ROUND}dialogues/", rounds.round_dialogues, name="round-dialogues"),
    path(f"{ROUND}template/", rounds.round_template, name="round-template"),
    path("submissions/", submissions.my_submissions, name="my-submissions"),
    path("submissions/<str:public_id>/", submissions.submission, name="submission"),
    path(
        "submissions/<str:public_id>/progress/",
        submissions.submission_progress,
        name="submission-progress",
    ),
    path("submissions/<str:public_id>/file/", submissions.submission_file, name="submission-file"),
]
