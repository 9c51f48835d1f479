"""OpenID Connect: logging in at a provider that the operator names, such as a university's.

Authlib does the protocol (discovery, state, nonce, PKCE, the provider's signature). Here is which
account a person of the provider has: linked once, after the account's own password was given, for
nobody has shown that an address which stands in an account is its owner's.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from annotations import audit
from annotations.accounts import accounts_that_may_act
from dialeval_site.models import LinkedIdentity

KEY = "openid_identity"
"""Of the session: who came from the provider and has no account yet."""
SECONDS = 900
PROVIDER_SECONDS = 10
LONGEST_SUBJECT = 255


class ProviderError(Exception):
    """The provider did not say who this is."""


class ProviderAway(ProviderError):
    """The provider was not reached."""


@dataclass(frozen=True)
class Identity:
    """A person as the provider knows them. ``email`` is empty where it was not verified."""

    issuer: str
    subject: str
    email: str
    name: str


def log_in_address(request: HttpRequest, return_to: str) -> HttpResponse:
    """Leads to the provider, with state, nonce and code verifier in the session."""
    with _provider_errors():
        response: HttpResponse = _provider().authorize_redirect(request, return_to)
        return response


def identity_of(request: HttpRequest) -> Identity:
    """Who came back from the provider. Raises ProviderError."""
    with _provider_errors():
        provider = _provider()
        token = provider.authorize_access_token(request)
        claims = dict(token["userinfo"])
        if "email" not in claims and "userinfo_endpoint" in provider.server_metadata:
            more = provider.userinfo(token=token)
            if more["sub"] != claims["sub"]:
                raise ValueError("userinfo is of somebody else")
            claims = {**more, **claims}
        if claims["iss"].rstrip("/") != settings.OIDC_ISSUER:
            raise ValueError("the token is of another issuer")
        if len(claims["sub"]) > LONGEST_SUBJECT:
            raise ValueError("the subject is longer than OpenID Connect allows")
    verified = claims.get("email_verified") in (True, "true")
    email = str(claims.get("email", "")) if verified else ""
    name = str(claims.get("preferred_username") or email.partition("@")[0])
    return Identity(settings.OIDC_ISSUER, str(claims["sub"]), email, name)


@contextmanager
def _provider_errors() -> Iterator[None]:
    from authlib.common.errors import AuthlibBaseError
    from joserfc.errors import JoseError
    from requests import RequestException

    try:
        yield
    except RequestException as problem:
        raise ProviderAway(_shortened(problem)) from problem
    except (AuthlibBaseError, JoseError, KeyError, RuntimeError, ValueError) as problem:
        raise ProviderError(_shortened(problem)) from problem


def _shortened(problem: Exception) -> str:
    """For the log, on one line: a visitor may write an error into the address that they open."""
    return f"{type(problem).__name__} {str(problem)[:300]!r}"


def _provider() -> Any:
    return _provider_at(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET)


@lru_cache(maxsize=1)
def _provider_at(issuer: str, client_id: str, client_secret: str) -> Any:
    """Remembers what the provider publishes of itself; unknown keys are fetched when they come."""
    from authlib.integrations.django_client import OAuth

    return OAuth().register(
        "openid",
        server_metadata_url=f"{issuer}/.well-known/openid-configuration",
        client_id=client_id,
        client_secret=client_secret,
        client_kwargs={
            "scope": "openid email profile",
            "code_challenge_method": "S256",
            "default_timeout": PROVIDER_SECONDS,
            "leeway": 0,  # userinfo is asked for at once, with tokens that live a minute, too
        },
    )


# --- the account of an identity -------------------------------------------------------------------


def linked_account(identity: Identity) -> Any:
    """None where the identity is linked to no account; the account may be one that may not act."""
    link = LinkedIdentity.objects.select_related("user").filter(
        issuer=identity.issuer, subject=identity.subject
    )
    return next((one.user for one in link), None)


def accounts_with_address_of(identity: Identity) -> QuerySet[Any]:
    """Accounts to which the identity may be linked: those with its verified address. Never one
    that all visitors of the demo share."""
    accounts = accounts_that_may_act().filter(demo_account__isnull=True)
    return accounts.filter(email__iexact=identity.email) if identity.email else accounts.none()


def link(user: Any, identity: Identity) -> None:
    """Raises IntegrityError where it was linked meanwhile, in another window."""
    with transaction.atomic():
        LinkedIdentity.objects.create(user=user, issuer=identity.issuer, subject=identity.subject)
        audit.record(user, "account.identity_linked", user.get_username(), issuer=identity.issuer)


def unlink(user: Any) -> None:
    with transaction.atomic():
        removed, _ = LinkedIdentity.objects.filter(user=user).delete()
        if removed:
            audit.record(user, "account.identity_removed", user.get_username())


# --- between the provider and the account ---------------------------------------------------------


def begin_first_log_in(request: HttpRequest, identity: Identity) -> None:
    request.session.cycle_key()
    request.session[KEY] = {**asdict(identity), "since": int(time.time())}


def waiting(request: HttpRequest) -> Identity | None:
    """Who came from the provider within the last quarter of an hour."""
    noted = dict(request.session.get(KEY) or {"since": 0})
    if abs(int(time.time()) - noted.pop("since")) > SECONDS:
        return None
    return Identity(**noted)


def end_first_log_in(request: HttpRequest) -> None:
    request.session.pop(KEY, None)
