"""Statistics over the API: what is not computed yet is 202, what is of older data says so."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpResponse
from ninja import Schema, Status
from pydantic import Field

from common.api.problems import Refused
from leaderboard.results.look import Look

RETRY_SECONDS = 2


class NotYet(Schema):
    """Nothing is stored to answer with: a worker was asked to compute it."""

    state: Literal["waiting", "running"] = Field(
        description="waiting: for a worker; running: one is at it."
    )
    detail: str = Field(description="What happens, and what to do.")
    retry_after: int = Field(
        description="Ask again after so many seconds; also in the header `Retry-After`."
    )


def not_yet(found: Look[Any], response: HttpResponse) -> Status[dict[str, Any]]:
    """The answer where ``found.answer`` is None. Raises ``Refused`` where it could not be
    computed."""
    if found.state == "failed":
        raise Refused(
            500,
            "It could not be computed. It is tried again when the data change.",
            code="not_computed",
        )
    response["Retry-After"] = str(RETRY_SECONDS)
    words = "It is being computed." if found.is_running else "It waits for a worker to compute it."
    if found.nobody_works:
        words += " No worker seems to be running."
    if found.is_refused:
        words = "The site is read-only at the moment: a worker could not be asked for it."
    state = "running" if found.is_running else "waiting"
    return Status(
        202, {"state": state, "detail": f"{words} Ask again.", "retry_after": RETRY_SECONDS}
    )
