"""Retries of calls to a language model: ask again, take the refusal, or give up. Pure.

Again: 429, 5xx, no answer in time, a dropped connection, a reply that is no chat completion. A
refusal: 400, 413 or 422 for the length or the content of what was asked; it is that call's answer.
Everything else ends the asking, 408 and 409 among it: no other 4xx is ever sent again.
"""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from common.outgoing import AddressNotAllowed
from workers.inference.language_models.asynchronous import UnreadableReply
from workers.inference.language_models.client import Endpoint
from workers.inference.language_models.refusals import reason_of, storable_error, why_not_taken

if TYPE_CHECKING:
    import openai

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
MAX_RETRY_AFTER = 120.0
"""Seconds that an endpoint's Retry-After is honoured at most; then it is asked again all the
same."""
NO_MONEY = "insufficient_quota"
"""The code of a 429 that no waiting helps: the account is empty."""


@dataclass(frozen=True, slots=True)
class Again:
    why: str
    retry_after: float | None = None
    """Seconds that the endpoint asks to be left alone for."""
    for_all: bool = False
    """Whether the endpoint has too much to do, so that no call should be sent for a while, not only
    this one."""


@dataclass(frozen=True, slots=True)
class Refused:
    why: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    why: str


Verdict = Again | Refused | GiveUp


def verdict(problem: Exception, endpoint: Endpoint, prompt: str) -> Verdict:
    """``prompt``: the texts of the request; an error that repeats them is not passed on."""
    import openai

    if isinstance(problem, (TimeoutError, openai.APITimeoutError)):
        return Again("it gave no answer in time")
    if isinstance(problem, UnreadableReply):
        return Again(str(problem))
    if isinstance(problem, openai.APIStatusError):
        return _of_status(problem, endpoint, prompt)
    if isinstance(problem, AddressNotAllowed):
        return GiveUp(str(problem))
    if isinstance(problem, openai.APIConnectionError):
        # The cause (a name that does not resolve, a connection refused) is one step behind what is
        # raised.
        cause = problem.__cause__
        cause_text = storable_error(cause, endpoint, prompt) if isinstance(cause, Exception) else ""
        return Again(
            "it cannot be reached, or dropped the connection"
            + (f": {cause_text}" if cause_text else "")
        )
    return GiveUp(f"{reason_of(problem)}: {storable_error(problem, endpoint, prompt)}")


def may_pass(problem: Exception) -> bool:
    """Whether it helps to ask again, where a call is one of few: no answer in time, a dropped
    connection, 408, 409, 429 and 5xx."""
    import openai

    if isinstance(problem, openai.APIStatusError):
        return problem.status_code in (408, 409, 429) or problem.status_code >= 500
    return isinstance(problem, openai.APIConnectionError)


def may_be_charged(problem: Exception) -> bool:
    """Whether the endpoint may charge for an attempt that came to nothing.

    Not for what never reached it, nor for what it refused: a redirect, an error of ours (4xx), 503
    and 529 for want of capacity. Everything else it may have answered before the answer was lost:
    no answer in time (408, 504), a dropped connection, a reply that cannot be read, any other error
    of a gateway before it.
    """
    import httpx2
    import openai

    if isinstance(problem, openai.APIStatusError):
        return problem.status_code == 408 or (
            problem.status_code >= 500 and problem.status_code not in (503, 529)
        )
    never_reached = (
        AddressNotAllowed,
        httpx2.ConnectError,
        httpx2.ConnectTimeout,
        httpx2.UnsupportedProtocol,
    )
    return not isinstance(problem, never_reached) and not isinstance(
        problem.__cause__, never_reached
    )


def pause_before(
    again: int, retry_after: float | None = None, chance: float | None = None
) -> float:
    """Seconds before the ``again``-th time (1, 2, …): anywhere between 0 and 0.5 s doubled each
    time, at most 30 s, so that callers who failed together do not come back together. An endpoint's
    wish is waited for, up to 120 s, and then as much of the pause."""
    chance = random.random() if chance is None else chance
    pause = chance * min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(again - 1, 30))
    return (
        pause
        if retry_after is None
        else min(max(retry_after, 0.0), MAX_RETRY_AFTER) + min(pause, 1.0)
    )


def parse_retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds that ``Retry-After`` (seconds or a date) or ``retry-after-ms`` asks for; None where
    they ask nothing."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    written = headers.get("retry-after", "").strip()
    seconds = _number(written)
    if seconds is not None or not written:
        return seconds
    try:
        date = email.utils.parsedate_to_datetime(written)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0.0, date.timestamp() - (time.time() if now is None else now))


def _number(written: str) -> float | None:
    try:
        value = float(written)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _of_status(problem: openai.APIStatusError, endpoint: Endpoint, prompt: str) -> Verdict:
    status, words = problem.status_code, storable_error(problem, endpoint, prompt)
    requested = parse_retry_after(problem.response.headers)
    if status == 429 and problem.code != NO_MONEY:
        return Again(f"it takes no more requests for now (429): {words}", requested, for_all=True)
    if status >= 500:
        return Again(
            f"it answers with the error {status}: {words}", requested, for_all=requested is not None
        )
    if why := why_not_taken(problem):
        return Refused(why)
    if status == 429:
        return GiveUp(f"the endpoint's account has no money left (429): {words}")
    if 300 <= status < 400:
        return GiveUp(
            f"the endpoint sends its callers on to another address ({status}), where this site "
            "does not go"
        )
    return GiveUp(f"{reason_of(problem)}: {words}")
