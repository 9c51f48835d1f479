"""Pages of passwords: changing one's own, and a new one where it is forgotten."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.forms import PasswordResetForm
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotations import rates
from annotations.accounts import is_demo_account, may_act
from dialeval_site.accounts import password_reset, tokens
from dialeval_site.backends import GUESS_SECONDS, password_is

READ_OR_SENT = require_http_methods(["GET", "HEAD", "POST"])
"""Django's own views take a PUT for a POST, and ask who is not logged in to log in before they look
at the method."""
AN_HOUR = 3600
RESETS_PER_HOUR = 20
"""Links that one address asks for."""


@method_decorator([READ_OR_SENT, sensitive_post_parameters(), never_cache], name="dispatch")
class PasswordChangeView(views.PasswordChangeView):
    """Another password."""

    success_url = reverse_lazy("account")
    extra_context = {"section": "account"}

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponse:
        if is_demo_account(self.request.user):
            raise PermissionDenied(
                _("this log-in is shared by all visitors of the demo and cannot be changed")
            )
        return super().dispatch(*args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Who sits at a browser that was left open does not guess at the old password without
        end."""
        try:
            password_is(request, request.user, request.POST.get("old_password", ""))
        except PermissionDenied:
            form = self.form_class(request.user)
            response = self.render_to_response(
                self.get_context_data(form=form, guessed_too_often=True), status=429
            )
            response["Retry-After"] = str(GUESS_SECONDS)
            return response
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, _("The password is changed. Other browsers are logged out."))
        _warn_of_other_ways_in(self.request, self.request.user)
        return super().form_valid(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)


def _warn_of_other_ways_in(request: HttpRequest, user: Any) -> None:
    """Who changes a password because somebody else knew it thinks that it ends all that was opened
    with the old one."""
    if tokens.living(user).exists():
        messages.warning(
            request,
            _(
                "Your tokens go on working. Under Account, Tokens you revoke those that you do "
                "not know."
            ),
        )
    if user.linked_identities.exists():
        messages.warning(
            request,
            _(
                "Another log-in is linked to your account. Under Account you remove it, if it is "
                "not yours."
            ),
        )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def forgotten_password(request: HttpRequest) -> HttpResponse:
    """Ask for a link to a new password: ``email``; the answer is the same for an unknown one. Where
    the site sends no e-mail it says whom to ask."""
    template = "registration/password_reset_form.html"
    if not settings.SENDS_EMAIL:
        return render(
            request,
            template,
            {"sends_no_email": True},
            status=200 if request.method != "POST" else 403,
        )
    form = PasswordResetForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return render(request, template, {"form": form}, status=422 if form.is_bound else 200)
    if rates.counted("password-resets", rates.address_of(request), AN_HOUR) > RESETS_PER_HOUR:
        response = render(request, template, {"form": form, "too_often": True}, status=429)
        response["Retry-After"] = str(AN_HOUR)
        return response
    password_reset.ask_for(form.cleaned_data["email"])
    return redirect("password-reset-sent")


@never_cache
@require_http_methods(["GET", "HEAD"])
def password_reset_sent(request: HttpRequest) -> HttpResponse:
    """What happens next."""
    return render(request, "registration/password_reset_done.html")


@method_decorator([READ_OR_SENT, sensitive_post_parameters(), never_cache], name="dispatch")
class NewPasswordView(views.PasswordResetConfirmView):
    """A new password; the link is good for an hour and once.

    Where the link leads. Django takes the token out of the address before the page is shown, so
    that no Referer carries it; a new password ends all sessions, and logs nobody in: who has a
    second factor is asked for it.
    """

    success_url = reverse_lazy("login")

    def get_user(self, uidb64: str) -> Any:
        user = super().get_user(uidb64)
        return None if user is None or is_demo_account(user) or not may_act(user) else user

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, _("The new password is stored. Log in with it."))
        _warn_of_other_ways_in(self.request, self.user)
        return super().form_valid(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)
