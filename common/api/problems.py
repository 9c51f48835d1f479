"""Errors as ``application/problem+json`` (RFC 9457), and what an operation's place in the OpenAPI
document says of its refusals."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from ninja import Schema
from pydantic import Field

MEDIA_TYPE = "application/problem+json"


class FieldProblem(Schema):
    field: str = Field(
        description="Path of the parameter or field, such as `query.limit` or `body.name`."
    )
    message: str = Field(description="What is wrong with it.")


class Problem(Schema):
    """Why a request was refused. `detail` is written for people; programs go by `status` and
    `code`."""

    type: str = Field(
        description="Always `about:blank`: `status` and `code` say what kind of problem it is."
    )
    title: str = Field(description="The status in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What happened, and what to do.")
    code: str | None = Field(
        None, description="A word for the rule that refused, such as `limit_day`; else null."
    )
    request_id: str | None = Field(
        None, description="Of a mistake of the server: the number by which the log has it."
    )
    errors: list[FieldProblem] = Field(
        [], description="With 422: the parameters and fields that are wrong."
    )


class Refused(Exception):
    """Ends a request with a problem. ``more`` are further members of the document."""

    def __init__(self, status: int, detail: str, code: str | None = None, **more: Any) -> None:
        self.status, self.detail, self.code, self.more = status, detail, code, more
        super().__init__(detail)


def problem_response(
    status: int, detail: str, code: str | None = None, **more: Any
) -> HttpResponse:
    document = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Error",
        "status": status,
        "detail": detail,
        "code": code,
        "errors": [],
        **more,
    }
    body = json.dumps(document, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return HttpResponse(body, status=status, content_type=MEDIA_TYPE)


WORDS = {
    400: "The body cannot be read.",
    401: "A token is needed, or the one that was sent does not count (any more).",
    403: "The token lacks the scope, or you are not among those who may.",
    404: "There is no such thing, or you may not see it.",
    405: "The address does not know that method.",
    409: "A rule of the site refuses it now; `code` names the rule.",
    413: "The file or the body is too large.",
    415: "The body is of another type than the one asked for.",
    416: "The range begins behind the end; `Content-Range` says where that is.",
    422: "A parameter, a field or the file is wrong; `errors` names it.",
    429: "Too many requests in a minute. `Retry-After` says when to go on.",
    500: "Something went wrong on the server.",
}


def described_problem(status: int) -> dict[str, Any]:
    return {
        "description": WORDS[status],
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def refusals(*statuses: int) -> dict[str, Any]:
    """``openapi_extra`` of an operation that refuses in these ways, beside those that all share."""
    return {"responses": {status: described_problem(status) for status in statuses}}
