"""The list of challenges, and one challenge: what it is, when, and what the reader's next step
is."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotations.campaigns.markdown import to_html
from leaderboard.challenges.access import challenge_or_404, team_of
from leaderboard.challenges.forms.taking_part import TeamForm
from leaderboard.challenges.models import Challenge
from leaderboard.challenges.queries.challenges import (
    count_submissions,
    rounds_at_now,
    visible_challenges,
)
from leaderboard.challenges.queries.next_step import next_step


@require_safe
def challenges(request: HttpRequest) -> HttpResponse:
    """All challenges, open ones first."""
    context = {"section": "challenges", "challenges": visible_challenges(request.user)}
    return render(request, "challenges/list.html", context)


@require_safe
def challenge(request: HttpRequest, slug: str) -> HttpResponse:
    """What it asks, its rounds and dates, one's team, one's next step."""
    one = challenge_or_404(request.user, slug)
    return render(request, "challenges/challenge.html", overview_context(request, one))


def overview_context(
    request: HttpRequest, one: Challenge, team_form: TeamForm | None = None
) -> dict[str, Any]:
    team = team_of(request.user, one)
    rounds = rounds_at_now(one, team)
    return {
        "section": "challenges",
        "tab": "overview",
        "challenge": one,
        "own_team": team,
        "rounds": rounds,
        "team_count": one.teams.count(),
        "submission_count": count_submissions(one),
        "step": next_step(request.user, one, team, rounds),
        "team_form": team_form or TeamForm(),
    }


@require_safe
def challenge_rules(request: HttpRequest, slug: str) -> HttpResponse:
    """Its rules."""
    one = challenge_or_404(request.user, slug)
    context = {
        "section": "challenges",
        "tab": "rules",
        "challenge": one,
        "own_team": team_of(request.user, one),
        "html": to_html(one.rules),
    }
    return render(request, "challenges/rules.html", context)
