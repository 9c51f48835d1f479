"""Addresses of challenges: what organisers set up, then what others read and send."""

from __future__ import annotations

from django.urls import path

from leaderboard.challenges.views import (
    boards,
    challenges,
    organise,
    organise_rounds,
    organise_teams,
    prompts,
    rounds,
    scores,
    submissions,
    teams,
    webhooks,
)

CHALLENGE, ROUND = "challenges/<slug:slug>", "challenges/<slug:slug>/rounds/<slug:round_slug>"
TEAM, SUBMISSION = "teams/<slug:public_id>", "submissions/<slug:public_id>"
SCORES = "corpora/<slug:slug>/metric-scores"

ORGANISERS = [
    path("challenges/new/", organise.challenge_new, name="challenge-new"),
    path(f"{CHALLENGE}/settings/", organise.challenge_settings, name="challenge-settings"),
    path(
        f"{CHALLENGE}/judge-budget/", organise.challenge_judge_budget, name="challenge-judge-budget"
    ),
    path(f"{CHALLENGE}/state/", organise.challenge_state, name="challenge-state"),
    path(f"{CHALLENGE}/delete/", organise.challenge_delete, name="challenge-delete"),
    path(f"{CHALLENGE}/rules/edit/", organise.challenge_rules_edit, name="challenge-rules-edit"),
    path(f"{CHALLENGE}/rounds/new/", organise_rounds.round_new, name="round-new"),
    path(f"{ROUND}/settings/", organise_rounds.round_settings, name="round-settings"),
    path(f"{ROUND}/delete/", organise_rounds.round_delete, name="round-delete"),
    path(f"{ROUND}/release/", organise_rounds.round_release, name="round-release"),
    path(f"{ROUND}/publish/", organise_rounds.round_publish, name="round-publish"),
    path(f"{ROUND}/withhold/", organise_rounds.round_withhold, name="round-withhold"),
    path(
        f"{ROUND}/open-references/",
        organise_rounds.round_open_references,
        name="round-open-references",
    ),
    path(f"{ROUND}/re-evaluate/", organise_rounds.round_re_evaluate, name="round-re-evaluate"),
    path(f"{CHALLENGE}/teams/", organise_teams.challenge_teams, name="challenge-teams"),
    path(
        f"{CHALLENGE}/submissions/",
        organise_teams.challenge_submissions,
        name="challenge-submissions",
    ),
    path(f"{CHALLENGE}/bans/", organise_teams.challenge_bans, name="challenge-bans"),
    path(f"{TEAM}/members/remove/", organise_teams.team_member_remove, name="team-member-remove"),
    path(
        f"{TEAM}/invitation/revoke/",
        organise_teams.team_invitation_revoke,
        name="team-invitation-revoke",
    ),
    path(f"{TEAM}/disqualify/", organise_teams.team_disqualify, name="team-disqualify"),
    path(f"{TEAM}/reinstate/", organise_teams.team_reinstate, name="team-reinstate"),
    path(f"{SUBMISSION}/cancel/", organise_teams.submission_cancel, name="submission-cancel"),
    path(f"{SUBMISSION}/retry/", organise_teams.submission_retry, name="submission-retry"),
    path(
        f"{SUBMISSION}/re-evaluate/",
        organise_teams.submission_re_evaluate,
        name="submission-re-evaluate",
    ),
    path(
        f"{SUBMISSION}/disqualify/",
        organise_teams.submission_disqualify,
        name="submission-disqualify",
    ),
    path(
        f"{SUBMISSION}/reinstate/", organise_teams.submission_reinstate, name="submission-reinstate"
    ),
    path(f"{SUBMISSION}/baseline/", organise_teams.submission_baseline, name="submission-baseline"),
]

urlpatterns = [
    *ORGANISERS,
    path("challenges/", challenges.challenges, name="challenges"),
    path(f"{CHALLENGE}/", challenges.challenge, name="challenge"),
    path(f"{CHALLENGE}/rules/", challenges.challenge_rules, name="challenge-rules"),
    path(f"{CHALLENGE}/team/", teams.team, name="team"),
    path(f"{CHALLENGE}/team/new/", teams.team_new, name="team-new"),
    path(f"{CHALLENGE}/team/invitation/", teams.team_invitation, name="team-invitation"),
    path(f"{CHALLENGE}/team/remove/", teams.team_remove, name="team-remove"),
    path(f"{CHALLENGE}/team/leave/", teams.team_leave, name="team-leave"),
    path("teams/join/<str:token>/", teams.team_join, name="team-join"),
    path(f"{ROUND}/", rounds.round, name="round"),
    path(f"{ROUND}/submit/", rounds.round_submit, name="round-submit"),
    path(f"{ROUND}/dialogues/", rounds.round_dialogues, name="round-dialogues"),
    path(f"{ROUND}/template/", rounds.round_template, name="round-template"),
    path("submissions/", submissions.my_submissions, name="my-submissions"),
    path("submissions/<str:public_id>/", submissions.submission, name="submission"),
    path(
        "submissions/<str:public_id>/progress/",
        submissions.submission_progress,
        name="submission-progress",
    ),
    path("submissions/<str:public_id>/file/", submissions.submission_file, name="submission-file"),
    path(f"{ROUND}/board/", boards.board, name="board"),
    path(f"{ROUND}/prompt/", prompts.prompt_new, name="prompt-new"),
    path(f"{ROUND}/prompt/try/", prompts.prompt_try, name="prompt-try"),
    path(f"{SCORES}/", scores.metric_scores, name="metric-scores"),
    path(
        f"{SCORES}/template/",
        scores.template,
        name="metric-scores-template",
    ),
    path("metric-scores/<int:pk>/withdraw/", scores.withdraw_metric, name="metric-scores-withdraw"),
    path("accounts/webhooks/", webhooks.webhooks, name="webhooks"),
    path("accounts/webhooks/mail/", webhooks.mail_choice, name="mail-choice"),
    path("accounts/webhooks/<int:pk>/delete/", webhooks.webhook_delete, name="webhook-delete"),
    path("accounts/webhooks/<int:pk>/try/", webhooks.webhook_try, name="webhook-try"),
]
