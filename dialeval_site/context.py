"""What every page may say: the version of the site and, on a demo site, the log-ins one may try."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from common.roles import is_organiser
from dialeval_site.help import tours
from dialeval_site.help.places import help_address


def site(request: HttpRequest) -> dict[str, Any]:
    user = getattr(request, "user", None)
    return {
        "site_version": settings.VERSION,
        "user_is_organiser": user is not None and is_organiser(user),
        "help_address": help_address(request.resolver_match.view_name)
        if request.resolver_match
        else "",
        "tour_step": tours.shown_step(request) if user is not None else None,
    }
