"""Making a team, the link that lets others in, removing members, and leaving."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common import web
from leaderboard.challenges.access import challenge_or_404, team_of
from leaderboard.challenges.actions import teams
from leaderboard.challenges.forms.taking_part import TeamForm
from leaderboard.challenges.models import Challenge, Team
from leaderboard.challenges.queries import challenges as queries
from leaderboard.challenges.queries.submissions import submissions_of
from leaderboard.challenges.submission_tables import submissions_table
from leaderboard.challenges.views.challenges import overview_context


@never_cache
@require_safe
@login_required
def team(request: HttpRequest, slug: str) -> HttpResponse:
    """One's team, its invitation, its submissions; without a team it leads to the challenge."""
    challenge = challenge_or_404(request.user, slug)
    own = team_of(request.user, challenge)
    if own is None:
        return redirect("challenge", slug)
    members, submitters = queries.members_of(own), queries.submitters_of(own)
    leader = queries.leader_of(own)
    is_leader = leader is not None and leader.user_id == request.user.pk
    why_no_link = queries.why_no_invitation(own)
    handed_in = submissions_of(own)
    context = {
        "section": "challenges",
        "tab": "team",
        "challenge": challenge,
        "own_team": own,
        "members": [(member, member.user_id in submitters) for member in members],
        "is_full": len(members) >= challenge.largest_team,
        "leader": leader,
        "may_remove": is_leader and own.disqualified_at is None,
        "why_no_link": why_no_link,
        "link": ""
        if why_no_link
        else request.build_absolute_uri(reverse("team-join", args=[own.invitation])),
        "why_not_leave": queries.why_not_leave(challenge, own, members, submitters, request.user),
        "would_be_gone": len(members) == 1,
        "submissions": handed_in,
        "table": submissions_table(handed_in, _("Submissions of your team"), with_round=True),
    }
    return web.page(request, "challenges/team.html", context, [context["table"]])


@require_POST
def team_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Create a team: ``name``."""
    challenge = challenge_or_404(request.user, slug)
    if not request.user.is_authenticated:
        return redirect_to_login(reverse("challenge", args=[slug]))
    form = TeamForm(request.POST)
    if form.is_valid():
        try:
            made = teams.found(challenge, request.user, form.cleaned_data["name"])
        except teams.CannotJoin as refusal:
            form.add_error(refusal.field or None, refusal.message)
        else:
            messages.success(
                request,
                _("Team created: %(team)s. Send the link to those who work with you.")
                % {"team": made.name},
            )
            return redirect("team", slug)
    return render(
        request, "challenges/challenge.html", overview_context(request, challenge, form), status=422
    )


@require_POST
def team_invitation(request: HttpRequest, slug: str) -> HttpResponse:
    """A new link in the place of the old one, good for 14 days; ``action=revoke``: none."""
    own = _own_team_or_login(request, slug)
    if isinstance(own, HttpResponse):
        return own
    try:
        if request.POST.get("action") == "revoke":
            teams.revoke_invitation(own, request.user)
            message = _("The link is revoked. Nobody can join until you make a new one.")
        else:
            teams.renew_invitation(own, request.user)
            message = _("There is a new link. The old one lets nobody in any more.")
    except teams.CannotJoin as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, message)
    return redirect("team", slug)


@require_POST
def team_remove(request: HttpRequest, slug: str) -> HttpResponse:
    """For its leader: ``member``, a log-in name, is out of the team, and its link is revoked."""
    own = _own_team_or_login(request, slug)
    if isinstance(own, HttpResponse):
        return own
    member = queries.member_named(own, request.POST.get("member", ""))
    if member is None:
        messages.error(request, _("There is no such member. Nothing was changed."))
        return redirect("team", slug)
    try:
        teams.remove_member(own, member.user, request.user)
    except teams.CannotJoin as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(
            request,
            _(
                "%(member)s is removed, and the team's link is revoked. Make a new one to invite "
                "others."
            )
            % {"member": member.user.get_username()},
        )
    return redirect("team", slug)


@require_POST
def team_leave(request: HttpRequest, slug: str) -> HttpResponse:
    """Leave one's team."""
    own = _own_team_or_login(request, slug)
    if isinstance(own, HttpResponse):
        return own
    try:
        teams.leave(own, request.user)
    except teams.CannotJoin as refusal:
        messages.error(request, refusal.message)
        return redirect("team", slug)
    messages.success(request, _("You have left the team %(team)s.") % {"team": own.name})
    return redirect("challenge", slug)


def _own_team_or_login(request: HttpRequest, slug: str) -> Team | HttpResponse:
    challenge: Challenge = challenge_or_404(request.user, slug)
    if not request.user.is_authenticated:
        return redirect_to_login(reverse("team", args=[slug]))
    own = team_of(request.user, challenge)
    if own is None:
        raise Http404("you have no team in this challenge")
    return own


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def team_join(request: HttpRequest, token: str) -> HttpResponse:
    """Where a team's invitation leads; POST, logged in: join it.

    A link that nobody made and one that was renewed are answered alike. Who has no account makes
    one and returns.
    """
    invited_to = queries.team_with_invitation(token)
    if invited_to is None:
        return render(
            request,
            "challenges/join.html",
            {"section": "challenges", "is_unknown": True},
            status=404,
        )
    if queries.is_member(request.user, invited_to):
        return redirect("team", invited_to.challenge.slug)
    refusal = ""
    if request.method == "POST":
        if not request.user.is_authenticated:
            return redirect_to_login(request.path)
        try:
            joined = teams.join(token, request.user)
        except teams.CannotJoin as cannot:
            refusal = cannot.message
        else:
            messages.success(
                request, _("You are now a member of %(team)s.") % {"team": joined.name}
            )
            return redirect("team", invited_to.challenge.slug)
    context = {
        "section": "challenges",
        "team": invited_to,
        "challenge": invited_to.challenge,
        "refusal": refusal,
    }
    return render(request, "challenges/join.html", context, status=409 if refusal else 200)
