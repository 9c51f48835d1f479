"""``DIALEVAL_TWO_FACTOR=organisers``: who runs things here logs in with two factors.

Until one has set it up one is no organiser (``common.roles``) and has no admin
(``dialeval_site.accounts.admin_site``). This middleware leads to the page where it is set up,
instead of a 403 for every page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from common.roles import has_organisers_role
from dialeval_site.accounts import two_factor

ACCOUNTS, API = "/accounts/", "/api/"


def needs_two_factor(user: Any) -> bool:
    """Whether this user must set it up before anything of an organiser or of the admin works."""
    if not settings.ORGANISERS_NEED_TWO_FACTOR or not user.is_authenticated:
        return False
    return (user.is_staff or has_organisers_role(user)) and not two_factor.is_on(user)


class LeadToSetUp:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if self._is_a_page(request) and needs_two_factor(request.user):
            return redirect(reverse("two-factor"))
        return self.get_response(request)

    @staticmethod
    def _is_a_page(request: HttpRequest) -> bool:
        """Accounts must stay open, to set it up or to log out; the API goes by tokens and answers
        for itself."""
        return settings.ORGANISERS_NEED_TWO_FACTOR and not request.path_info.startswith(
            (ACCOUNTS, API)
        )
