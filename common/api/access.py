"""Who asks, and what the token allows. The site's door (its middleware) has looked the token up
before."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja.security import HttpBearer

from common.api.problems import Refused
from common.roles import is_organiser

Scope = Literal["read", "submit", "export", "organise"]
SCOPES: dict[Scope, str] = {
    "read": "read what your pages show",
    "submit": "join teams, submit, cancel",
    "export": "download whole corpora",
    "organise": "what organisers do; only while you are one",
}


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody with a token, or anybody without. ``fault`` says why a token that was sent does not
    count."""

    user: Any = field(default_factory=AnonymousUser)
    token_id: int | None = None
    name: str = ""
    start: str = ""
    scopes: frozenset[str] = frozenset()
    expires_at: datetime | None = None
    fault: str = ""


def caller_of(request: HttpRequest) -> Caller:
    return getattr(request, "api_caller", None) or Caller()


class Token(HttpBearer):
    """Guards an operation: a token with this scope, or, where ``anybody`` may, none at all.

    The caller becomes ``request.user``; whoever is logged in with a browser is nobody here.
    """

    openapi_bearerFormat = "dial_…"  # noqa: N815  the document's own spelling
    openapi_description = (
        "A token of the site: made on its page Tokens or by `POST /api/v1/tokens`."
    )

    def __init__(self, scope: Scope, anybody: bool = False) -> None:
        super().__init__()
        self.scope: Scope = scope
        self.anybody = anybody

    def __call__(self, request: HttpRequest) -> Caller:
        caller = caller_of(request)
        request.user = caller.user
        if caller.fault:
            raise Refused(401, caller.fault, code="token")
        if caller.token_id is None:
            if self.anybody:
                return caller
            raise Refused(401, _("This needs a token: Authorization: Bearer dial_…"), code="token")
        if self.scope not in caller.scopes:
            raise Refused(
                403,
                _("This token does not have the scope %(scope)s.") % {"scope": self.scope},
                code="scope",
            )
        if self.scope == "organise" and not is_organiser(caller.user):
            raise Refused(403, _("Only organisers may do this."), code="role")
        return caller

    def authenticate(self, request: HttpRequest, token: str) -> Caller:
        raise NotImplementedError("the door looks tokens up")
