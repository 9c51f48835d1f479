"""Logging in, signing up, and the page of one's own account."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, views
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotations import rates
from annotations.accounts import NameTaken, is_demo_account, open_account
from common.roles import is_organiser
from dialeval_site.accounts import two_factor
from dialeval_site.accounts.actions import change_email
from dialeval_site.accounts.forms import EmailForm, SignUpForm
from dialeval_site.accounts.reauthentication import is_reauthenticated, page_with
from dialeval_site.accounts.two_factor_views import log_in_with_code
from dialeval_site.backends import GUESS_SECONDS
from dialeval_site.demo.site import accounts_on_this_site
from leaderboard.challenges.queries.challenges import memberships_of

AN_HOUR = 3600
SIGN_UPS_AN_HOUR = 100
"""From one address: a class signs up in one lesson, a program would fill the site with teams."""


class LoginView(views.LoginView):
    """Log in."""

    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(
            demo_accounts=accounts_on_this_site(),
            sign_up_is_open=settings.SIGN_UP_IS_OPEN,
            openid_name=settings.OIDC_NAME if settings.OIDC_ISSUER else "",
            **kwargs,
        )

    def form_invalid(self, form: Any) -> HttpResponse:
        if getattr(self.request, "waits_for_code", None) is not None:
            return log_in_with_code(self.request, self.get_redirect_url())
        if not getattr(self.request, "guessed_too_often", False):
            return super().form_invalid(form)
        response = self.render_to_response(
            self.get_context_data(form=form, guessed_too_often=True), status=429
        )
        response["Retry-After"] = str(GUESS_SECONDS)
        return response


@sensitive_post_parameters("password", "again")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_up(request: HttpRequest) -> HttpResponse:
    """Create an account, log in and go on to ``next``: the page that asked for it, or the
    challenges. 403 where ``DIALEVAL_SIGN_UP`` is ``closed``."""
    next_page = safe_next(request)
    if request.user.is_authenticated:
        return HttpResponseRedirect(next_page or reverse("challenges"))
    if not settings.SIGN_UP_IS_OPEN:
        return render(
            request, "registration/sign_up.html", {"is_closed": True, "next": next_page}, status=403
        )
    form = SignUpForm(request.POST if request.method == "POST" else None)
    is_sound = request.method == "POST" and form.is_valid()
    if is_sound and rates.counted("sign-up", rates.address_of(request), AN_HOUR) > SIGN_UPS_AN_HOUR:
        form.add_error(
            None,
            _("Too many accounts were made from your network within an hour. Try again later."),
        )
        return render(
            request, "registration/sign_up.html", {"form": form, "next": next_page}, status=429
        )
    if is_sound and (user := make_account(form)):
        # The password was chosen a moment ago: asked for it, the backend may refuse, after other
        # people's guesses.
        login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
        messages.success(
            request,
            _("Your account is made, and you are logged in as %(name)s.")
            % {"name": user.get_username()},
        )
        return HttpResponseRedirect(next_page or reverse("challenges"))
    context = {"form": form, "next": next_page}
    return render(
        request, "registration/sign_up.html", context, status=422 if form.is_bound else 200
    )


def make_account(form: SignUpForm) -> Any:
    """The new user; None, with an error on the form, where the name was taken in this moment."""
    params = form.cleaned_data
    try:
        return open_account(params["username"], params["password"], params["email"])
    except NameTaken:
        form.add_error("username", _("This name is taken. If it is yours, log in instead."))
        return None


def safe_next(request: HttpRequest) -> str:
    """Where to go afterwards, on this site only."""
    requested = request.POST.get("next") or request.GET.get("next") or ""
    allowed = {request.get_host()}
    return (
        requested
        if url_has_allowed_host_and_scheme(requested, allowed, require_https=request.is_secure())
        else ""
    )


@sensitive_post_parameters("password", "code")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """One's name, teams and e-mail address; POST changes the address: ``email``, ``password``, and
    ``code`` where two-factor log-in is on."""
    form = EmailForm(
        request.POST if request.method == "POST" else None,
        initial={"email": request.user.email},
        user=request.user,
    )
    is_shared = is_demo_account(request.user)
    if request.method == "POST":
        if is_shared:
            raise PermissionDenied(
                _("this log-in is shared by all visitors of the demo and cannot be changed")
            )
        if is_reauthenticated(request, form):
            change_email(request.user, form.cleaned_data["email"])
            messages.success(
                request,
                _("The address is stored.") if request.user.email else _("No address is kept."),
            )
            return redirect("account")
    context = {
        "section": "account",
        "form": form,
        "is_shared": is_shared,
        "two_factor_is_on": two_factor.is_on(request.user),
        "roles": [_("organiser")] if is_organiser(request.user) else [],
        "memberships": memberships_of(request.user),
        "linked_identities": request.user.linked_identities.all(),
    }
    return page_with(request, "registration/account.html", form, context)
