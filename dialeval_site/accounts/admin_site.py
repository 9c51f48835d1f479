"""Django's admin with this site's log-in: the same throttle, the same second step, the same rule
for organisers."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme


class Config(AdminConfig):
    default_site = "dialeval_site.accounts.admin_site.DialevalAdmin"


class DialevalAdmin(AdminSite):
    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        from dialeval_site.accounts.two_factor_views import log_in_with_code

        response = super().login(request, extra_context)
        if getattr(request, "waits_for_code", None) is None:
            return response
        requested = (
            request.POST.get(REDIRECT_FIELD_NAME) or request.GET.get(REDIRECT_FIELD_NAME) or ""
        )
        is_here = url_has_allowed_host_and_scheme(
            requested, {request.get_host()}, require_https=request.is_secure()
        )
        return log_in_with_code(request, requested if is_here else reverse("admin:index"))

    def has_permission(self, request: HttpRequest) -> bool:
        from dialeval_site.accounts.two_factor_rule import needs_two_factor

        return super().has_permission(request) and not needs_two_factor(request.user)
