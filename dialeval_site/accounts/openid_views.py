"""Pages of a log-in by OpenID Connect: to the provider, back from it, and the first time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from annotations import rates
from annotations.accounts import may_act
from common.web import own_form
from dialeval_site.accounts import openid, two_factor
from dialeval_site.accounts.forms import SignUpForm
from dialeval_site.accounts.two_factor_views import log_in_with_code
from dialeval_site.accounts.views import make_account, safe_next
from dialeval_site.backends import GUESS_SECONDS

NEXT = "openid_next"
LOG_INS_A_MINUTE = 300
"""From one address: a lecture hall logs in at once."""
log = logging.getLogger(__name__)
View = Callable[[HttpRequest], HttpResponse]


def _for_logged_out_users(view: View) -> View:
    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if not settings.OIDC_ISSUER:
            raise Http404
        if request.user.is_authenticated:
            return redirect(safe_next(request) or settings.LOGIN_REDIRECT_URL)
        return view(request)

    return guarded


@never_cache
@require_safe
@_for_logged_out_users
def to_provider(request: HttpRequest) -> HttpResponse:
    """Lead to the OpenID Connect provider; ``next`` is the page afterwards. 404 without one."""
    # Each begins a session, so nobody begins them without end.
    if rates.counted_request("openid", rates.address_of(request), 60) > LOG_INS_A_MINUTE:
        response = _page(request, {"too_often": True}, 429)
        response["Retry-After"] = "60"
        return response
    request.session[NEXT] = safe_next(request)
    try:
        return openid.log_in_address(request, request.build_absolute_uri(reverse("openid-return")))
    except openid.ProviderError as problem:
        return _not_confirmed(request, problem)


@never_cache
@require_safe
@_for_logged_out_users
def from_provider(request: HttpRequest) -> HttpResponse:
    """Log in whom the provider confirmed, or lead to the first log-in. 404 without a provider."""
    try:
        identity = openid.identity_of(request)
    except openid.ProviderError as problem:
        return _not_confirmed(request, problem)
    user = openid.linked_account(identity)
    if user is None:
        openid.begin_first_log_in(request, identity)
        return redirect("openid-first-log-in")
    return _log_in(request, user)


@sensitive_post_parameters("password", "again")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@_for_logged_out_users
def first_log_in(request: HttpRequest) -> HttpResponse:
    """Link the account that has one's address, by its ``username`` and ``password``; people without
    one sign up, where ``DIALEVAL_OIDC_SIGN_UP`` lets them. 404 without a provider."""
    identity = openid.waiting(request)
    if identity is None:
        return redirect("login")
    try:
        if openid.accounts_with_address_of(identity).exists():
            return _link_account(request, identity)
        if settings.OIDC_SIGN_UP:
            return _make_account(request, identity)
    except IntegrityError:  # linked meanwhile, in another window
        return redirect("openid-log-in")
    return _page(request, {"identity": identity}, 403)


@never_cache
@own_form("account")
def unlink(request: HttpRequest) -> HttpResponse:
    """End the provider's log-in to one's account, which keeps its password."""
    openid.unlink(request.user)
    messages.success(request, _("The link is removed. You log in with your password."))
    return redirect("account")


def _link_account(request: HttpRequest, identity: openid.Identity) -> HttpResponse:
    accounts = openid.accounts_with_address_of(identity)
    names = [user.get_username() for user in accounts]
    form = AuthenticationForm(
        request,
        request.POST if request.method == "POST" else None,
        initial={"username": names[0] if len(names) == 1 else ""},
    )
    # The backend lets nobody in whose account has a second factor, and says whose password it was
    user = form.get_user() if form.is_valid() else getattr(request, "waits_for_code", None)
    if user is not None and user in accounts:
        openid.link(user, identity)
        return _log_in(request, user)
    guessed_too_often = getattr(request, "guessed_too_often", False)
    response = _page(
        request,
        {
            "identity": identity,
            "link_form": form,
            "is_wrong": form.is_bound,
            "guessed_too_often": guessed_too_often,
        },
        429 if guessed_too_often else 422 if form.is_bound else 200,
    )
    if guessed_too_often:
        response["Retry-After"] = str(GUESS_SECONDS)
    return response


def _make_account(request: HttpRequest, identity: openid.Identity) -> HttpResponse:
    form = SignUpForm(
        request.POST if request.method == "POST" else None,
        initial={"username": identity.name, "email": identity.email},
    )
    if form.is_valid():
        with transaction.atomic():
            user = make_account(form)
            if user is not None:
                openid.link(user, identity)
        if user is not None:
            return _log_in(request, user)
    context = {"identity": identity, "sign_up_form": form}
    return _page(request, context, 422 if form.is_bound else 200)


def _log_in(request: HttpRequest, user: Any) -> HttpResponse:
    """The rules of a log-in by password hold: accounts that may not act, and the second step."""
    openid.end_first_log_in(request)
    next_page = request.session.pop(NEXT, "")
    if not may_act(user):
        return _page(request, {"may_not_act": True}, 403)
    if two_factor.is_on(user):
        request.waits_for_code = user  # type: ignore[attr-defined]
        return log_in_with_code(request, next_page)
    login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
    return redirect(next_page or resolve_url(settings.LOGIN_REDIRECT_URL))


def _not_confirmed(request: HttpRequest, problem: openid.ProviderError) -> HttpResponse:
    log.warning("a log-in by OpenID Connect failed: %s", problem)
    is_away = isinstance(problem, openid.ProviderAway)
    return _page(request, {"not_confirmed": True}, 502 if is_away else 403)


def _page(request: HttpRequest, context: dict[str, Any], status: int) -> HttpResponse:
    context |= {"openid_name": settings.OIDC_NAME}
    return render(request, "registration/openid.html", context, status=status)
