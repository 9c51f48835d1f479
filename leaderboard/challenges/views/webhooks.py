"""Who is told: a person's webhooks, what was sent to them, and whether e-mail is wanted."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from common.web import own_form
from leaderboard.challenges.actions import notices
from leaderboard.challenges.forms.taking_part import WebhookForm
from leaderboard.challenges.models import Webhook
from leaderboard.challenges.queries.notices import emails_to, wants_mail, webhooks_of


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def webhooks(request: HttpRequest) -> HttpResponse:
    """One's webhooks and latest notices; POST adds one: ``url``."""
    form = WebhookForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            notices.add_webhook(request.user, form.cleaned_data["url"])
        except notices.NotAccepted as refusal:
            form.add_error("url", str(refusal))
        else:
            messages.success(
                request, _("The webhook is stored. Send it a test to see whether it answers.")
            )
            return redirect("webhooks")
    context = {
        "section": "account",
        "form": form,
        "webhooks": webhooks_of(request.user),
        "letters": emails_to(request.user),
        "wants_mail": wants_mail(request.user),
        "sends_email": settings.SENDS_EMAIL,
        "waits": "wait" in request.GET,
    }
    return render(request, "api/webhooks.html", context, status=422 if form.is_bound else 200)


@own_form("webhooks")
def webhook_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete it, with what waits to be sent to it."""
    notices.delete_webhook(_own(request, pk))
    messages.success(request, _("The webhook is gone; what waited to be sent to it, too."))
    return redirect("webhooks")


@own_form("webhooks")
def webhook_try(request: HttpRequest, pk: int) -> HttpResponse:
    """Send it a test."""
    try:
        notices.try_webhook(_own(request, pk))
    except notices.NotAccepted as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("A test is on its way. Load the page again to see the answer."))
    return redirect("webhooks")


@own_form("webhooks")
def mail_choice(request: HttpRequest) -> HttpResponse:
    """``wanted``: ``yes``, or no e-mail any more."""
    is_wanted = request.POST.get("wanted") == "yes"
    notices.choose_mail(request.user, is_wanted)
    messages.success(
        request, _("You will get e-mail.") if is_wanted else _("You will get no e-mail any more.")
    )
    return redirect("webhooks")


def _own(request: HttpRequest, pk: int) -> Webhook:
    webhook = Webhook.objects.filter(user=request.user, pk=pk).first()
    if webhook is None:
        raise Http404("there is no such webhook of yours")
    return webhook
