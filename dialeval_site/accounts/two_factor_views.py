"""Pages of two-factor log-in: the second step, and setting it up, renewing its recovery codes,
turning it off."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from annotations.accounts import is_demo_account
from common.web import own_form
from dialeval_site.accounts import second_step, two_factor
from dialeval_site.accounts.reauthentication import is_reauthenticated, page_with, password_fits
from dialeval_site.accounts.two_factor_forms import CodeForm, ReauthenticationForm, SetUpForm
from dialeval_site.accounts.two_factor_rule import needs_two_factor

KEY = "two_factor_key"
"""Of the session: the key of an app that is being set up. It is no key of anybody until a code of
it was given."""

# --- the second step of a log-in ------------------------------------------------------------------


def log_in_with_code(request: HttpRequest, next_page: str) -> HttpResponse:
    """Where a right password leads whose owner has a second factor."""
    second_step.begin(request, request.waits_for_code, next_page)  # type: ignore[attr-defined]
    return redirect("two-factor-log-in")


@sensitive_post_parameters("code")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def second_log_in_step(request: HttpRequest) -> HttpResponse:
    """The second step of a log-in: ``code``."""
    if request.user.is_authenticated:
        return redirect(settings.LOGIN_REDIRECT_URL)
    user = second_step.waiting(request)
    if user is None:
        return redirect("login")
    form = CodeForm(request.POST if request.method == "POST" else None)
    seconds = 0
    if form.is_valid():
        try:
            two_factor.verify(user, form.cleaned_data["code"])
        except two_factor.TooManyCodes as refusal:
            seconds = refusal.seconds
        except two_factor.WrongCode:
            form.add_error(
                "code", _("This code does not fit. An app shows a new one every 30 seconds.")
            )
        else:
            return _logged_in(request, user)
    response = render(
        request,
        "registration/two_factor_log_in.html",
        {"form": form, "seconds": seconds},
        status=429 if seconds else 422 if form.errors else 200,
    )
    if seconds:
        response["Retry-After"] = str(seconds)
    return response


def _logged_in(request: HttpRequest, user: Any) -> HttpResponse:
    next_page = second_step.next_page(request)
    second_step.end(request)
    login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
    return redirect(next_page or resolve_url(settings.LOGIN_REDIRECT_URL))


# --- one's own ------------------------------------------------------------------------------------


def _not_of_the_demo(
    view: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if is_demo_account(request.user):
            raise PermissionDenied(
                _("this log-in is shared by all visitors of the demo and cannot be changed")
            )
        return view(request)

    return guarded


@sensitive_post_parameters("password", "code")
@sensitive_variables("key", "codes")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@_not_of_the_demo
def own_two_factor(request: HttpRequest) -> HttpResponse:
    """Set two-factor log-in up; POST turns it on: ``password``, ``code``, and shows ten recovery
    codes once."""
    if two_factor.is_on(request.user):
        return redirect("two-factor") if request.method == "POST" else _page(request)
    if KEY not in request.session:
        request.session[KEY] = two_factor.new_key()
    if request.method != "POST":
        return _set_up_page(request, SetUpForm())
    form = SetUpForm(request.POST)
    if not form.is_valid() or not password_fits(request, form):
        return _set_up_page(request, form)
    try:
        codes = two_factor.turn_on(request.user, request.session[KEY], form.cleaned_data["code"])
    except two_factor.WrongCode:
        form.add_error("code", _("This code does not fit. Is the clock of the device right?"))
        return _set_up_page(request, form)
    except two_factor.IsOn:
        return redirect("two-factor")
    del request.session[KEY]
    _end_other_sessions(request, form.cleaned_data["password"])
    return _page(request, codes=codes, is_new=True)


@sensitive_post_parameters("password", "code")
@never_cache
@own_form("two-factor")
@_not_of_the_demo
def renew_recovery_codes(request: HttpRequest) -> HttpResponse:
    """Ten new recovery codes: ``codes-password``, ``codes-code``."""
    form = ReauthenticationForm(request.POST, prefix="codes")
    if not is_reauthenticated(request, form):
        return _page(request, codes_form=form)
    return _page(request, codes=two_factor.renew_codes(request.user))


@sensitive_post_parameters("password", "code")
@never_cache
@own_form("two-factor")
@_not_of_the_demo
def turn_two_factor_off(request: HttpRequest) -> HttpResponse:
    """Turn it off: ``off-password``, ``off-code``."""
    form = ReauthenticationForm(request.POST, prefix="off")
    if not is_reauthenticated(request, form):
        return _page(request, off_form=form)
    two_factor.turn_off(request.user)
    messages.success(request, _("Two-factor log-in is off: the password alone logs you in."))
    return redirect("account")


def _end_other_sessions(request: HttpRequest, password: str) -> None:
    """Sessions hang on the password's hash: the same password under a new salt ends all but this
    one. They were begun without a code."""
    user: Any = request.user
    user.set_password(password)
    user.save(update_fields=["password"])
    update_session_auth_hash(request, user)


def _set_up_page(request: HttpRequest, form: SetUpForm) -> HttpResponse:
    key = request.session[KEY]
    return _answer(
        request,
        form,
        form=form,
        key=two_factor.as_letters(key),
        qr_code=two_factor.as_qr_code(key, request.user),
        is_needed=needs_two_factor(request.user),
    )


def _page(
    request: HttpRequest,
    codes_form: ReauthenticationForm | None = None,
    off_form: ReauthenticationForm | None = None,
    **more: Any,
) -> HttpResponse:
    return _answer(
        request,
        codes_form or off_form,
        is_on=two_factor.is_on(request.user),
        left=two_factor.codes_left(request.user),
        codes_form=codes_form or ReauthenticationForm(prefix="codes"),
        off_form=off_form or ReauthenticationForm(prefix="off"),
        **more,
    )


def _answer(
    request: HttpRequest, wrong: ReauthenticationForm | None, **context: Any
) -> HttpResponse:
    context = {
        "section": "account",
        "address": request.build_absolute_uri(reverse("home")),
        **context,
    }
    return page_with(request, "registration/two_factor.html", wrong, context)
