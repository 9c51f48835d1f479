"""Being sure of who sits at the browser: the password, and the code of who has two-factor log-in
on.

Asked where something is changed with which an account could be taken over, or kept after its owner
has come back.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from dialeval_site.accounts import two_factor
from dialeval_site.backends import GUESS_SECONDS, password_is


def is_reauthenticated(request: HttpRequest, form: forms.Form) -> bool:
    """Whether the form is sound, its password right and its code, where it asks for one; else the
    form says what is wrong. The code is used up only where the password was right."""
    if not form.is_valid() or not password_fits(request, form):
        return False
    if "code" not in form.fields:
        return True
    try:
        two_factor.verify(request.user, form.cleaned_data["code"])
    except two_factor.TooManyCodes as refusal:
        form.add_error(
            "code", _("Too many wrong codes. Try again in %(n)d seconds.") % {"n": refusal.seconds}
        )
        form.wait_seconds = refusal.seconds
    except two_factor.WrongCode:
        form.add_error(
            "code", _("This code does not fit. An app shows a new one every 30 seconds.")
        )
    return not form.errors


def password_fits(request: HttpRequest, form: forms.Form) -> bool:
    try:
        if password_is(request, request.user, form.cleaned_data["password"]):
            return True
    except PermissionDenied:
        form.add_error("password", _("Too many wrong passwords. Try again in ten minutes."))
        form.wait_seconds = GUESS_SECONDS
    else:
        form.add_error("password", _("This is not your password."))
    return False


def page_with(
    request: HttpRequest, template: str, wrong: forms.Form | None, context: dict[str, Any]
) -> HttpResponse:
    """The page, with the status that what is ``wrong`` asks for: 422, or 429 where there were too
    many guesses."""
    seconds = getattr(wrong, "wait_seconds", 0)
    status = 429 if seconds else 422 if wrong is not None and wrong.errors else 200
    response = render(request, template, context, status=status)
    if seconds:
        response["Retry-After"] = str(seconds)
    return response
