"""An organiser's look at teams and at everything that was handed in, with one button for each
decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from common.roles import is_organiser
from common.web import page
from leaderboard.challenges.access import challenge_or_404, organisers_page, submission_or_404
from leaderboard.challenges.actions import interventions, judging, teams
from leaderboard.challenges.actions.interventions import CannotDo
from leaderboard.challenges.actions.refusal import Refused
from leaderboard.challenges.challenge_tables import SHOWN, submissions_table, teams_table
from leaderboard.challenges.forms.challenge import BanForm, ReasonForm, RemovalForm
from leaderboard.challenges.models import AT_WORK, Challenge, Submission
from leaderboard.challenges.queries import challenges, organising
from leaderboard.challenges.views.organise import frame

ON_A_PAGE = 200
LEFT_OUT_AT_FIRST = ("names", "made", "reason")
"""Columns of the table of teams that the reader may ask for."""


@require_safe
@organisers_page
def challenge_teams(request: HttpRequest, slug: str) -> HttpResponse:
    """Its teams; ``team`` is one with its members and attempts."""
    challenge = challenge_or_404(request.user, slug)
    return _teams_page(request, challenge, request.GET.get("team", ""))


def _teams_page(
    request: HttpRequest, challenge: Challenge, requested: str, forms: dict[str, Any] | None = None
) -> HttpResponse:
    lines = organising.team_rows(challenge)
    rounds = list(challenge.rounds.order_by("position", "pk"))
    table = teams_table(challenge, lines, rounds)
    chosen = next((line for line in lines if line.team.public_id == requested), None)
    if requested and chosen is None:
        raise Http404("there is no such team")
    context = {
        **frame(request, challenge, "teams"),
        "lines": lines,
        "table": table,
        "shown_columns": ",".join(
            column.key for column in table.columns if column.key not in LEFT_OUT_AT_FIRST
        ),
        "chosen": chosen,
        "attempts": []
        if chosen is None
        else [(one, chosen.counted.get(one.pk, 0)) for one in rounds],
        "why_no_link": "" if chosen is None else challenges.why_no_invitation(chosen.team),
        "reason_form": ReasonForm(),
        "removal_form": None if chosen is None else RemovalForm(chosen.team),
        "ban_form": BanForm(),
        "bans": challenges.bans_of(challenge),
        **(forms or {}),
    }
    if forms:
        return render(request, "challenges/teams.html", context, status=422)
    return page(request, "challenges/teams.html", context, [table])


@require_safe
@organisers_page
def challenge_submissions(request: HttpRequest, slug: str) -> HttpResponse:
    """Its submissions, 200 a ``page``: only those of a ``round`` (its address), in a ``state``, of
    a ``team`` (its public id); ``chosen`` is one with its log and buttons."""
    challenge = challenge_or_404(request.user, slug)
    params = {
        name: request.GET.get(name, "").replace("\0", "") for name in ("round", "state", "team")
    }
    found = organising.submissions_of(challenge, params["round"], params["state"], params["team"])
    pages = Paginator(found, ON_A_PAGE)
    here = pages.get_page(request.GET.get("page"))
    shown = list(found if "download" in request.GET else here.object_list)
    rounds = list(challenge.rounds.order_by("position", "pk"))
    table = submissions_table(
        challenge, shown, organising.ranking_scores(shown), request.GET.urlencode()
    )
    requested = request.GET.get("chosen", "").replace("\0", "")
    chosen = organising.find_submission(challenge, requested) if requested else None
    if requested and chosen is None:
        raise Http404("there is no such submission")
    counts = organising.state_counts(challenge)
    context = {
        **frame(request, challenge, "submissions"),
        "table": table,
        "shown_columns": SHOWN,
        "here": here,
        "asked": params,
        "is_filtered": any(params.values()),
        "rounds": rounds,
        "teams": list(challenge.teams.order_by("name")),
        "states": [
            (value, label, counts.get(value, 0)) for value, label in Submission.State.choices
        ],
        "total": sum(counts.values()),
        "chosen": chosen,
        "log": [] if chosen is None else organising.log_of(chosen),
        "may_cancel": chosen is not None and interventions.may_cancel(chosen, request.user),
        "reason_form": ReasonForm(),
    }
    return page(request, "challenges/submissions.html", context, [table])


# --- buttons --------------------------------------------------------------------------------------


def _reason_of(request: HttpRequest) -> str:
    """Raises ``Refused`` with what is wrong with it."""
    form = ReasonForm(request.POST)
    if not form.is_valid():
        raise Refused(
            " ".join(str(error) for error in form.errors.get("reason", ())) or _("Give a reason.")
        )
    return form.cleaned_data["reason"]


def _team_button(
    description: str, action: Callable[[Any, HttpRequest], Any], words: Any
) -> Callable[..., HttpResponse]:
    @require_POST
    @organisers_page
    def pressed(request: HttpRequest, public_id: str) -> HttpResponse:
        team = organising.find_team(public_id)
        if team is None:
            raise Http404("there is no such team")
        try:
            action(team, request)
        except Refused as refusal:
            messages.error(request, refusal.message)
        else:
            messages.success(request, words(team))
        return redirect(
            f"{reverse('challenge-teams', args=[team.challenge.slug])}?team={team.public_id}"
        )

    pressed.__doc__ = description
    return pressed


team_disqualify = _team_button(
    "``reason``, which the team reads.",
    lambda team, request: judging.disqualify_team(team, _reason_of(request), request.user),
    lambda team: _("%(team)s is disqualified and reads your reason.") % {"team": team.name},
)
team_reinstate = _team_button(
    "It takes part again.",
    lambda team, request: judging.reinstate_team(team, request.user),
    lambda team: _("%(team)s takes part again.") % {"team": team.name},
)


@require_POST
@organisers_page
def team_invitation_revoke(request: HttpRequest, public_id: str) -> HttpResponse:
    """The team's link lets nobody in any more."""
    team = organising.find_team(public_id)
    if team is None:
        raise Http404("there is no such team")
    try:
        teams.revoke_invitation(team, request.user)
    except teams.CannotJoin as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("The link is revoked. The team can make a new one."))
    return redirect(
        f"{reverse('challenge-teams', args=[team.challenge.slug])}?team={team.public_id}"
    )


@require_POST
@organisers_page
def team_member_remove(request: HttpRequest, public_id: str) -> HttpResponse:
    """``removal-member``, ``removal-reason``, ``removal-ban``: out of the team or, with a ban, of
    the challenge."""
    team = organising.find_team(public_id)
    if team is None:
        raise Http404("there is no such team")
    challenge = team.challenge
    form = RemovalForm(team, request.POST)
    if not form.is_valid():
        return _teams_page(request, challenge, public_id, {"removal_form": form})
    user, reason = form.cleaned_data["member"].user, form.cleaned_data["reason"]
    try:
        if form.cleaned_data["ban"]:
            teams.ban(challenge, user, reason, request.user)
            message = _("%(member)s is removed and banned from the challenge.")
        else:
            teams.remove_member(team, user, request.user, reason)
            message = _("%(member)s is removed, and the team's link is revoked.")
    except (Refused, teams.CannotJoin) as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, message % {"member": user.get_username()})
    still_there = organising.find_team(public_id) is not None
    address = reverse("challenge-teams", args=[challenge.slug])
    return redirect(f"{address}?team={public_id}" if still_there else address)


@require_POST
@organisers_page
def challenge_bans(request: HttpRequest, slug: str) -> HttpResponse:
    """Ban an account from the challenge: ``ban-account``, ``ban-reason``; ``lift``: the name of one
    that may take part again."""
    challenge = challenge_or_404(request.user, slug)
    address = f"{reverse('challenge-teams', args=[slug])}#bans"
    if "lift" in request.POST:
        banned = challenges.ban_of(challenge, request.POST["lift"])
        if banned is not None and teams.lift_ban(challenge, banned.user, request.user):
            messages.success(
                request, _("%(name)s may take part again.") % {"name": banned.user.get_username()}
            )
        return redirect(address)
    form = BanForm(request.POST)
    if not form.is_valid():
        return _teams_page(request, challenge, "", {"ban_form": form})
    try:
        teams.ban(
            challenge, form.cleaned_data["account"], form.cleaned_data["reason"], request.user
        )
    except (Refused, teams.CannotJoin) as refusal:
        form.add_error(None, refusal.message)
        return _teams_page(request, challenge, "", {"ban_form": form})
    messages.success(
        request,
        _("%(name)s is banned from the challenge.")
        % {"name": form.cleaned_data["account"].get_username()},
    )
    return redirect(address)


def _press(
    request: HttpRequest, submission: Submission, action: Callable[[], Any], message: str
) -> HttpResponse:
    try:
        action()
    except (Refused, CannotDo) as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, message)
    return redirect(_back(request, submission))


def _back(request: HttpRequest, submission: Submission) -> str:
    """Where the button was: a page of ours that the form names, or the submission's own."""
    params = request.POST.get("back", "")
    if params.startswith("/") and url_has_allowed_host_and_scheme(params, allowed_hosts=None):
        return params
    return reverse("submission", args=[submission.public_id])


@require_POST
def submission_cancel(request: HttpRequest, public_id: str) -> HttpResponse:
    """Give the attempt back, as long as nothing could be learned from the submission; organisers
    while it is at work."""
    if not request.user.is_authenticated:
        return redirect_to_login(reverse("submission", args=[public_id]))
    submission = submission_or_404(request.user, public_id)
    if not is_organiser(request.user) and not interventions.may_cancel(submission, request.user):
        if submission.state not in AT_WORK:
            messages.error(request, _("It has ended already."))
            return redirect(_back(request, submission))
        raise PermissionDenied(
            _("It can no longer be cancelled: it is being run, or a score of it is there.")
        )
    return _press(
        request,
        submission,
        lambda: interventions.cancel(submission, request.user),
        _("Cancelled. It is not counted as an attempt."),
    )


def _button(
    description: str, action: Callable[[Submission, HttpRequest], Any], message: Any
) -> Callable[..., HttpResponse]:
    @require_POST
    @organisers_page
    def pressed(request: HttpRequest, public_id: str) -> HttpResponse:
        submission = submission_or_404(request.user, public_id)
        return _press(request, submission, lambda: action(submission, request), message())

    pressed.__doc__ = description
    return pressed


submission_retry = _button(
    "Take up one that is invalid, failed or cancelled.",
    lambda one, request: interventions.retry(one, request.user),
    lambda: _("It is taken up again."),
)
submission_re_evaluate = _button(
    "Score it with the round's current metrics.",
    lambda one, request: interventions.re_evaluate(one, request.user),
    lambda: _("It is scored on every metric that the round asks for now."),
)
submission_disqualify = _button(
    "``reason``, which the team reads.",
    lambda one, request: judging.disqualify(one, _reason_of(request), request.user),
    lambda: _("Disqualified. The team reads your reason."),
)
submission_reinstate = _button(
    "It competes again.",
    lambda one, request: judging.reinstate(one, request.user),
    lambda: _("It is ranked again."),
)
submission_baseline = _button(
    "Mark it as a baseline, or no longer: ``is_baseline``.",
    lambda one, request: judging.flag_baseline(
        one, request.POST.get("is_baseline") == "yes", request.user
    ),
    lambda: _("Stored."),
)
