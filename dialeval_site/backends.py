"""Who is let in. A site that began as a demo and went into production keeps the demo's users; their pass words are
printed in the README, so there they open nothing."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from dialeval_site.demo import DEMO_ACCOUNTS


class NoDemoLogInsInProduction(ModelBackend):
    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> Any:
        is_public = any(password == account.password for account in DEMO_ACCOUNTS)
        if settings.PRODUCTION and is_public:
            return None
        return super().authenticate(request, username, password, **kwargs)
