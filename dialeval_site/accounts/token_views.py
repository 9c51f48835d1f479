"""The page of one's tokens, and the page that documents the API."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from common.web import own_form
from dialeval_site.accounts import tokens as token_rows
from dialeval_site.accounts.reauthentication import is_reauthenticated, page_with
from dialeval_site.accounts.token_forms import TokenForm
from dialeval_site.api.pages import pages_of


@sensitive_post_parameters("password", "code")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@sensitive_variables("token", "context")
def tokens(request: HttpRequest) -> HttpResponse:
    """One's tokens of the API; POST makes one and shows it once: ``name``, ``scopes``, ``days``,
    ``password``, and ``code`` where two-factor log-in is on.

    A new token stands on the page that answers the form, and never again.
    """
    if request.method != "POST":
        return _page(request, TokenForm(user=request.user))
    form = TokenForm(request.POST, user=request.user)
    if not is_reauthenticated(request, form):
        return _page(request, form)
    try:
        row, token = token_rows.make(request.user, **form.params)
    except token_rows.NotMade as refusal:
        form.add_error(refusal.field, refusal.message)
        return _page(request, form)
    return _page(request, TokenForm(user=request.user), made=row, token=token)


def _page(request: HttpRequest, form: TokenForm, **more: Any) -> HttpResponse:
    context = {
        "section": "account",
        "form": form,
        "tokens": token_rows.of(request.user),
        "now": timezone.now(),
        **more,
    }
    return page_with(request, "api/tokens.html", form, context)


@own_form("tokens")
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """One's own token opens nothing any more."""
    row = token_rows.of(request.user).filter(pk=pk).first()
    if row is None:
        raise Http404("there is no such token of yours")
    if token_rows.revoke(row):
        messages.success(
            request, _("%(name)s is revoked: it opens nothing any more.") % {"name": row.name}
        )
    return redirect("tokens")


@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    """Every operation of the API."""
    address = request.build_absolute_uri("/").rstrip("/")
    return render(
        request,
        "api/docs.html",
        {"section": "api", "groups": pages_of(address), "address": address},
    )
