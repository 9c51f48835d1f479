"""Setting up a round, and the moments when others get to see more of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.challenges.access import challenge_or_404, organisers_page, round_or_404
from leaderboard.challenges.actions import judging, rounds
from leaderboard.challenges.actions.refusal import Refused
from leaderboard.challenges.forms.round import RoundForm
from leaderboard.challenges.models import Challenge, Round
from leaderboard.challenges.phase import is_released, phase_of
from leaderboard.challenges.queries import organising
from leaderboard.challenges.queries.board import has_private_board
from leaderboard.challenges.views.organise import frame, show_refusal

REFRESHES = frozenset(("refresh", "preset"))
"""Buttons that ask for the form again, with what follows from them."""


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def round_new(request: HttpRequest, slug: str) -> HttpResponse:
    """One more round."""
    challenge = challenge_or_404(request.user, slug)
    form = RoundForm(request.POST or None, challenge=challenge)
    if REFRESHES & request.POST.keys():
        return _form_page(request, challenge, form, changed=True)
    if request.method == "POST" and form.is_valid():
        try:
            round = rounds.create_round(challenge, form.params(), request.user)
        except Refused as refusal:
            show_refusal(form, refusal)
        else:
            messages.success(request, _("%(round)s is stored.") % {"round": round.name})
            return redirect("challenge-settings", slug)
    return _form_page(request, challenge, form)


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def round_settings(request: HttpRequest, slug: str, round_slug: str) -> HttpResponse:
    """What a round asks; what can no longer be changed, and why."""
    round = round_or_404(request.user, slug, round_slug)
    form = RoundForm(request.POST or None, challenge=round.challenge, round=round)
    if REFRESHES & request.POST.keys():
        return _form_page(request, round.challenge, form, round, changed=True)
    if request.method == "POST" and form.is_valid():
        try:
            stored = rounds.edit_round(round, form.params(), request.user)
        except Refused as refusal:
            show_refusal(form, refusal)
        else:
            messages.success(request, _("The settings are stored."))
            before = {*round.metrics, *round.private_metrics}
            if (
                not before.issuperset([*stored.metrics, *stored.private_metrics])
                and stored.submissions.filter(system__isnull=False).exists()
            ):
                messages.info(
                    request,
                    _("Submissions have no score on the new metric yet. Score them again below."),
                )
            return redirect("round-settings", slug, stored.slug)
    return _form_page(request, round.challenge, form, round)


def _form_page(
    request: HttpRequest,
    challenge: Challenge,
    form: RoundForm,
    round: Round | None = None,
    changed: bool = False,
) -> HttpResponse:
    """``changed``: the form was sent for another corpus, hidden references, a preset or a metric to
    be added; not to be saved."""
    context: dict[str, Any] = {
        **frame(request, challenge, "settings"),
        "form": form,
        "changed": changed,
    }
    if round is not None:
        published, publishable = organising.published_counts(round)
        now = timezone.now()
        phase = phase_of(round.opens_at, round.closes_at, round.challenge.state, now)
        context |= {
            "round": round,
            "round_tab": "settings",
            "is_released": is_released(round.release_at, now),
            "everybody_sees_corpus": organising.everybody_sees_corpus_of(round),
            "is_open": phase == "open",
            "holds_back": has_private_board(round),
            "why_not_publish": judging.why_not_publish(round),
            "published": published,
            "publishable": publishable,
            "submission_count": round.submissions.count(),
            "scored_count": round.submissions.filter(state="scored").count(),
        }
    if changed:
        # Errors come with the attempt to save, but for a metric that was to be added
        for name in form.errors.keys() - {"add_metric"}:
            del form.errors[name]
        template = "challenges/_round_form.html" if request.htmx else "challenges/round_form.html"
        return render(request, template, context)
    return render(
        request, "challenges/round_form.html", context, status=422 if form.is_bound else 200
    )


# --- buttons --------------------------------------------------------------------------------------


def _button(
    description: str, action: Callable[[Round, Any], Any], words: Callable[[Any], str]
) -> Callable[..., HttpResponse]:
    @require_POST
    @organisers_page
    def pressed(request: HttpRequest, slug: str, round_slug: str) -> HttpResponse:
        round = round_or_404(request.user, slug, round_slug)
        try:
            outcome = action(round, request.user)
        except Refused as refusal:
            messages.error(request, refusal.message)
        else:
            messages.success(request, words(outcome))
        return redirect("round-settings", slug, round_slug)

    pressed.__doc__ = description
    return pressed


def _opened_text(round: Round) -> str:
    if organising.everybody_sees_corpus_of(round):
        return _("The references are public from now on.")
    return _(
        "The references are open: the round's dialogues hold them. The corpus's own pages stay "
        "with organisers."
    )


round_release = _button(
    "Everybody sees the private leaderboard from now on.",
    judging.release,
    lambda _round: _("Released: everybody sees the private leaderboard."),
)
round_publish = _button(
    "Scored systems become systems of the corpus.",
    judging.publish_systems,
    lambda count: (
        ngettext(
            "%(count)s system is on the corpus's pages now.",
            "%(count)s systems are there now.",
            count,
        )
        % {"count": count}
    ),
)
round_withhold = _button(
    "Take them off the corpus's pages again.",
    judging.withhold_systems,
    lambda count: (
        ngettext(
            "%(count)s system was taken off the corpus's pages.",
            "%(count)s systems were taken off.",
            count,
        )
        % {"count": count}
    ),
)
round_open_references = _button(
    "Hidden references become public, for good.", judging.open_references, _opened_text
)
round_re_evaluate = _button(
    "Score all again with the round's current metrics.",
    judging.re_evaluate_all,
    lambda count: (
        ngettext(
            "%(count)s submission is scored again.",
            "%(count)s submissions are scored again.",
            count,
        )
        % {"count": count}
    ),
)


@require_POST
@organisers_page
def round_delete(request: HttpRequest, slug: str, round_slug: str) -> HttpResponse:
    """Delete it where nothing was submitted."""
    round = round_or_404(request.user, slug, round_slug)
    try:
        rounds.delete_round(round, request.user)
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("round-settings", slug, round_slug)
    messages.success(request, _("%(round)s is deleted.") % {"round": round.name})
    return redirect("challenge-settings", slug)
