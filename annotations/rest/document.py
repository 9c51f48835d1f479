"""What an operation's place in the OpenAPI document says of its refusals."""

from __future__ import annotations

from typing import Any

from annotations.rest.problems import MEDIA_TYPE

WORDS = {
    400: "The body cannot be read.",
    401: "A token is needed, or the one that was sent does not count (any more).",
    403: "The token lacks the scope, or you are not among those who may.",
    404: "There is no such thing, or you may not see it.",
    405: "The address does not know that method.",
    409: "A rule of the site refuses it now; `code` names the rule.",
    413: "The file or the body is too large.",
    415: "The body is of another type than the one asked for.",
    422: "A parameter, a field or the file is wrong; `errors` names it.",
    429: "Too many requests in a minute. `Retry-After` says when to go on.",
    500: "Something went wrong on the server.",
}


def problem_response(status: int) -> dict[str, Any]:
    return {
        "description": WORDS[status],
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def refusals(*statuses: int) -> dict[str, Any]:
    """``openapi_extra`` of an operation that refuses in these ways, beside those that all share."""
    return {"responses": {status: problem_response(status) for status in statuses}}
