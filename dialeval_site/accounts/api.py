"""Tokens and who one is, over the API."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from django.contrib.auth import authenticate
from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Router, Schema, Status
from pydantic import Field

from annotations import rates
from common.api.access import Token, caller_of
from common.api.problems import Refused, refusals
from common.api.schemas import Given, Text
from common.roles import ROLES
from dialeval_site.accounts import tokens, two_factor
from dialeval_site.models import ApiToken

router = Router(tags=["tokens"])
ScopeName = Literal["read", "submit", "export", "organise"]
GUESS_SECONDS = 600
GUESSES_OF_A_NAME, GUESSES_OF_AN_ADDRESS = 5, 30
"""Wrong pass words within ten minutes: of one name from one address, and of one address."""


class TokenIn(Given):
    model_config = {
        "extra": "forbid",
        "json_schema_extra": {
            "examples": [
                {
                    "username": "ada",
                    "password": "…",
                    "name": "laptop",
                    "scopes": ["read", "submit"],
                    "days": 90,
                }
            ]
        },
    }
    username: Text = Field(min_length=1, max_length=150, description="Your log-in name.")
    password: Text = Field(min_length=1, max_length=1000, description="Your password.")
    code: Text = Field(
        "",
        max_length=40,
        description="Of an account with two-factor log-in: the app's six figures, or a recovery "
        "code.",
    )
    name: Text = Field(
        "API", min_length=1, max_length=80, description="What you will know the token by."
    )
    scopes: list[ScopeName] = Field(
        ["read", "submit"],
        min_length=1,
        max_length=4,
        description="What the token may be used for.",
    )
    days: int = Field(
        tokens.USUAL_DAYS, ge=1, le=tokens.MOST_DAYS, description="How long it lives."
    )


class TokenOut(Schema):
    name: str = Field(description="What you know it by.")
    start: str = Field(description="Its first characters.")
    scopes: list[ScopeName] = Field(description="What it may be used for.")
    created_at: datetime = Field(description="When it was made.")
    expires_at: datetime = Field(description="When it ends.")


class NewToken(TokenOut):
    token: str = Field(description="The token. It is shown this once and kept nowhere.")


class Me(Schema):
    username: str = Field(description="Your log-in name.")
    roles: list[Literal["organiser", "rater", "participant"]] = Field(description="Your groups.")
    email: str = Field(description='Where notices go; "" where you gave none.')
    token: TokenOut = Field(description="The token of this request.")


@router.post(
    "/tokens",
    auth=None,
    response={201: NewToken},
    operation_id="make_token",
    summary="Make a token with your password",
    openapi_extra=refusals(401),
)
def make_token(request: HttpRequest, params: TokenIn) -> Status[Any]:
    """After five wrong passwords for a name within ten minutes no further ones are tried from the
    same address."""
    address = rates.address_of(request)
    name_here = f"{params.username.casefold()} {address}"
    if (
        rates.so_far("guess", name_here, GUESS_SECONDS) >= GUESSES_OF_A_NAME
        or rates.so_far("guesses", address, GUESS_SECONDS) >= GUESSES_OF_AN_ADDRESS
    ):
        raise Refused(
            429,
            _("Too many wrong passwords. Try again in ten minutes."),
            code="guesses",
            retry=GUESS_SECONDS,
        )
    user = authenticate(request, username=params.username, password=params.password)
    if user is None and (waiting := getattr(request, "waits_for_code", None)) is not None:
        user = _with_code(waiting, params.code)
    if user is None:
        rates.counted("guess", name_here, GUESS_SECONDS)
        rates.counted("guesses", address, GUESS_SECONDS)
        raise Refused(401, _("Name and password do not belong together."), code="password")
    try:
        row, token = tokens.make(user, params.name, params.scopes, params.days)
    except tokens.NotMade as refusal:
        errors = [{"field": f"body.{refusal.field}", "message": refusal.message}]
        raise Refused(422, refusal.message, code=refusal.field, errors=errors) from None
    return Status(201, {**_token(row), "token": token})


def _with_code(user: Any, code: str) -> Any:
    """The user, whose password was right, where the code is, too."""
    if not code.strip():
        raise Refused(
            401, _("This account has two-factor log-in. Send the code, too."), code="two_factor"
        )
    try:
        two_factor.verify(user, code)
    except two_factor.TooManyCodes as refusal:
        raise Refused(
            429, _("Too many wrong codes. Try again later."), code="codes", retry=refusal.seconds
        ) from None
    except two_factor.WrongCode:
        raise Refused(401, _("The code does not fit."), code="wrong_code") from None
    return user


@router.get("/me", auth=Token("read"), response=Me, operation_id="get_me", summary="Who you are")
def get_me(request: HttpRequest) -> dict[str, Any]:
    row = ApiToken.objects.get(pk=caller_of(request).token_id)
    user: Any = request.user
    known = set(user.groups.values_list("name", flat=True))
    return {
        "username": user.get_username(),
        "roles": [role for role in ROLES if role in known],
        "email": user.email,
        "token": _token(row),
    }


@router.delete(
    "/tokens/current",
    auth=Token("read"),
    response={204: None},
    operation_id="revoke_token",
    summary="Revoke the token of this request",
)
def revoke_token(request: HttpRequest) -> Status[None]:
    tokens.revoke(ApiToken.objects.get(pk=caller_of(request).token_id))
    return Status(204, None)


def _token(row: ApiToken) -> dict[str, Any]:
    return {
        name: getattr(row, name) for name in ("name", "start", "scopes", "created_at", "expires_at")
    }
